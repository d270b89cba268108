package keyboard

// table lists the keys of the UI Events standard: the key value, the code of
// the physical key if there is one, its Windows virtual key code (the KeyCode
// that pages see), its location on the keyboard (1 left, 2 right, 3 keypad),
// and the text that it types without and with Shift. A dash means none. If
// several keys have the same value, its name means the first one.
const table = `
Alt AltLeft 18 1
Alt AltRight 18 2
AltGraph AltRight 225
CapsLock CapsLock 20
Control ControlLeft 17 1
Control ControlRight 17 2
Fn Fn 0
FnLock FnLock 0
Hyper Hyper 0
Meta MetaLeft 91 1
Meta MetaRight 92 2
NumLock NumLock 144
ScrollLock ScrollLock 145
Shift ShiftLeft 16 1
Shift ShiftRight 16 2
Super Super 0
Symbol - 0
SymbolLock - 0

Enter Enter 13 0 \r
Enter NumpadEnter 13 3 \r
Tab Tab 9

ArrowDown ArrowDown 40
ArrowLeft ArrowLeft 37
ArrowRight ArrowRight 39
ArrowUp ArrowUp 38
End End 35
Home Home 36
PageDown PageDown 34
PageUp PageUp 33

Backspace Backspace 8
Backspace NumpadBackspace 8 3
Clear - 12
Clear NumpadClear 12 3
Copy Copy 0
CrSel - 247
Cut Cut 0
Delete Delete 46
EraseEof - 249
ExSel - 248
Insert Insert 45
Paste Paste 0
Redo - 0
Undo Undo 0

Accept - 30
Again Again 0
Attn - 246
Cancel - 3
ContextMenu ContextMenu 93
Escape Escape 27
Execute - 43
Find Find 0
Help Help 47
Pause Pause 19
Play - 250
Props Props 0
Select Select 41
ZoomIn - 0
ZoomOut - 0

BrightnessDown BrightnessDown 216
BrightnessUp BrightnessUp 217
Eject Eject 0
LogOff - 0
Power Power 152
PowerOff - 0
PrintScreen PrintScreen 44
Hibernate - 0
Standby Sleep 95
WakeUp WakeUp 0

AllCandidates - 0
Alphanumeric - 0
CodeInput - 0
Compose - 0
Convert Convert 28
Dead - 0
FinalMode - 24
GroupFirst - 0
GroupLast - 0
GroupNext - 0
GroupPrevious - 0
ModeChange - 31
NextCandidate - 0
NonConvert NonConvert 29
PreviousCandidate - 0
Process - 229
SingleCandidate - 0
HangulMode Lang1 21
HanjaMode Lang2 25
JunjaMode - 23
Eisu Lang2 0
Hankaku - 243
Hiragana Lang4 242
HiraganaKatakana - 0
KanaMode KanaMode 21
KanjiMode - 25
Katakana Lang3 241
Romaji - 245
Zenkaku - 244
ZenkakuHankaku Lang5 0

F1 F1 112
F2 F2 113
F3 F3 114
F4 F4 115
F5 F5 116
F6 F6 117
F7 F7 118
F8 F8 119
F9 F9 120
F10 F10 121
F11 F11 122
F12 F12 123
F13 F13 124
F14 F14 125
F15 F15 126
F16 F16 127
F17 F17 128
F18 F18 129
F19 F19 130
F20 F20 131
F21 F21 132
F22 F22 133
F23 F23 134
F24 F24 135
Soft1 - 0
Soft2 - 0
Soft3 - 0
Soft4 - 0

ChannelDown ChannelDown 0
ChannelUp ChannelUp 0
Close Close 0
MailForward MailForward 0
MailReply MailReply 0
MailSend MailSend 0
MediaFastForward MediaFastForward 0
MediaPause MediaPause 0
MediaPlay MediaPlay 0
MediaPlayPause MediaPlayPause 179
MediaRecord MediaRecord 0
MediaRewind MediaRewind 0
MediaStop MediaStop 178
MediaTrackNext MediaTrackNext 176
MediaTrackPrevious MediaTrackPrevious 177
New New 0
Open Open 0
Print Print 0
Save Save 0
SpellCheck SpellCheck 0
Key11 - 0
Key12 - 0

AudioVolumeDown AudioVolumeDown 174
AudioVolumeMute AudioVolumeMute 173
AudioVolumeUp AudioVolumeUp 175
MicrophoneToggle - 0
MicrophoneVolumeDown - 0
MicrophoneVolumeMute MicrophoneMuteToggle 0
MicrophoneVolumeUp - 0

LaunchApplication1 LaunchApp1 182
LaunchApplication2 LaunchApp2 183
LaunchCalendar - 0
LaunchContacts - 0
LaunchControlPanel LaunchControlPanel 0
LaunchMail LaunchMail 180
LaunchMediaPlayer MediaSelect 181
LaunchMusicPlayer - 0
LaunchPhone - 0
LaunchScreenSaver LaunchScreenSaver 0
LaunchSpreadsheet - 0
LaunchWebBrowser - 0
LaunchWebCam - 0
LaunchWordProcessor - 0

BrowserBack BrowserBack 166
BrowserFavorites BrowserFavorites 171
BrowserForward BrowserForward 167
BrowserHome BrowserHome 172
BrowserRefresh BrowserRefresh 168
BrowserSearch BrowserSearch 170
BrowserStop BrowserStop 169

AppSwitch - 0
Call - 0
Camera - 0
CameraFocus - 0
EndCall - 0
GoBack - 0
GoHome - 0
HeadsetHook - 0
LastNumberRedial - 0
Notification - 0
MannerMode - 0
VoiceDial - 0

0 Digit0 48 0 0 )
1 Digit1 49 0 1 !
2 Digit2 50 0 2 @
3 Digit3 51 0 3 #
4 Digit4 52 0 4 $
5 Digit5 53 0 5 %
6 Digit6 54 0 6 ^
7 Digit7 55 0 7 &
8 Digit8 56 0 8 *
9 Digit9 57 0 9 (
a KeyA 65 0 a A
b KeyB 66 0 b B
c KeyC 67 0 c C
d KeyD 68 0 d D
e KeyE 69 0 e E
f KeyF 70 0 f F
g KeyG 71 0 g G
h KeyH 72 0 h H
i KeyI 73 0 i I
j KeyJ 74 0 j J
k KeyK 75 0 k K
l KeyL 76 0 l L
m KeyM 77 0 m M
n KeyN 78 0 n N
o KeyO 79 0 o O
p KeyP 80 0 p P
q KeyQ 81 0 q Q
r KeyR 82 0 r R
s KeyS 83 0 s S
t KeyT 84 0 t T
u KeyU 85 0 u U
v KeyV 86 0 v V
w KeyW 87 0 w W
x KeyX 88 0 x X
y KeyY 89 0 y Y
z KeyZ 90 0 z Z
Space Space 32 0 Space Space
; Semicolon 186 0 ; :
= Equal 187 0 = +
, Comma 188 0 , <
- Minus 189 0 - _
. Period 190 0 . >
/ Slash 191 0 / ?
` + "` Backquote 192 0 ` ~" + `
[ BracketLeft 219 0 [ {
\ Backslash 220 0 \ |
] BracketRight 221 0 ] }
' Quote 222 0 ' "

0 Numpad0 96 3 0
1 Numpad1 97 3 1
2 Numpad2 98 3 2
3 Numpad3 99 3 3
4 Numpad4 100 3 4
5 Numpad5 101 3 5
6 Numpad6 102 3 6
7 Numpad7 103 3 7
8 Numpad8 104 3 8
9 Numpad9 105 3 9
* NumpadMultiply 106 3 *
+ NumpadAdd 107 3 +
, NumpadComma 194 3 ,
- NumpadSubtract 109 3 -
. NumpadDecimal 110 3 .
/ NumpadDivide 111 3 /
= NumpadEqual 187 3 =
`

// aliases are the names that older routines and other tools use.
var aliases = map[string]string{
	"return": "Enter", "esc": "Escape", "del": "Delete", "ins": "Insert", "spacebar": "Space", " ": "Space",
	"up": "ArrowUp", "down": "ArrowDown", "left": "ArrowLeft", "right": "ArrowRight", "pgup": "PageUp", "pgdn": "PageDown",
	"ctrl": "Control", "option": "Alt", "cmd": "Meta", "command": "Meta", "win": "Meta", "windows": "Meta", "os": "Meta",
	"plus": "+", "apps": "ContextMenu", "menu": "ContextMenu", "volumeup": "AudioVolumeUp", "volumedown": "AudioVolumeDown", "volumemute": "AudioVolumeMute",
}
