package candidate

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// destructiveWords are the beginnings of words in the names of controls that do what
// cannot be undone, in common languages, by what they do. Those of languages without spaces
// may be anywhere in a name. A word with a $ is a whole one.
var destructiveWords = []struct {
	does  string
	words []string
}{
	{"deletes or removes", strings.Fields(`delet remov eras destroy discard purge wipe lösch loesch entfern supprim effac elimin borrar borre excluir exclu apagar
		rimuov cancella verwijder radera slett slet fjern usuń usun usuw удал стереть smazat odstran poista sil$ silin törl διαγρα
		αφαίρ حذف מחק 删除 刪除 移除 清空 削除 消去 삭제 제거 trash papierkorb corbeille papelera cestino 🗑 видал șterg hapus$ xóa$ xoá$ हटा ลบ`)},
	{"pays for", strings.Fields(`pay payment bezahl zahlung zahlungspflichtig payer paiement régler pagar pagamento pago paga betal zapłać zaplac
		płatność оплат заплат zaplat maksa öde fizet πληρω ادفع דفع שלם 支付 付款 付费 缴费 支払 결제 지불 donat donar doar$ spenden doneer 捐款 寄付
		überweis transfer$ plăt bayar$ toán$ भुगतान ชำระ پرداخت`)},
	{"buys or orders", strings.Fields(`buy purchas order kauf kostenpflichtig bestell achet acheter command comprar compra pedir pedido acquist ordina compre
		kopen koop bestel köp kjøp køb kup zamów купи заказ 购买 購買 下单 購入 注文 구매 주문 book$ booking$
		reserv réserv buchen$ prenot boeken$ boka$ rezerw rezerv заброн 预订 預訂 予約 예약 satın cumpăr vásárol vásárlás megrendel замов beli$ mua$ खरीद ซื้อ خرید شراء`)},
	{"cancels or revokes", strings.Fields(`cancel revok terminat deactivat withdraw stornier abbrech abbruch kündig kuendig widerruf deaktivier annul résili resili
		désactiv anular cancelar annull annuleer annuler opzeg avbryt anuluj отмен iptal zruš peru ακύρω إلغاء ביטול 取消 注销 解約 退会
		취소 해지 скасув batal$ hủy$ huỷ$ रद्द ยกเลิก`)},
	{"unsubscribes from", strings.Fields(`unsubscri unfollow abbestell abmeld désabon desabon désinscri desinscri disiscri afmeld uitschrijv avsluta wypisz отпис
		退订 退訂 購読解除 구독취소`)},
}

// committingWords are further names of controls that do what may not be undone, as
// destructiveWords.
var committingWords = []struct {
	does  string
	words []string
}{
	{"sends", strings.Fields(`send submit absend senden abschick verschick envoy soumett enviar envía envia invia versturen verstuur verzend skicka sänd
		wyślij wyslij отправ lähetä odeslat gönder إرسال שלח 送信 发送 發送 提交 보내기 전송 übermittel einreich publish veröffentlich
		publier publicar pubblica опублик 发布 發布 投稿 subscri abonnier abonner suscrib iscriviti підпис подпис надісл trimite küldés kirim$ gửi$ भेज ส่ง ارسال`)},
	{"confirms", strings.Fields(`confirm bestätig bestaetig confirmer valider confirmar conferm bevestig bekräfta bekreft bekræft potwierd подтверд
		vahvista potvrd onayla επιβεβα تأكيد אישור 确认 確認 確定 确定 확인 yes$ ja$ oui$ sí$ sim$ tak$ да$ так$ evet$ はい 是的
		підтверд megerősít पुष्टि ยืนยัน`)},
}

// Commits says what a control with a name does, if that may not be undone; else it is empty.
func Commits(name string) string {
	for _, group := range slices.Concat(destructiveWords, committingWords) {
		if hasWord(name, group.words) {
			return group.does
		}
	}
	return ""
}

// Destructive says what a control does by its new name, if that has a destructive word
// and the old name has none for the same; else it is empty.
func Destructive(old, name string) string {
	for _, group := range destructiveWords {
		if hasWord(name, group.words) && !hasWord(old, group.words) {
			return group.does
		}
	}
	return ""
}

// hasWord reports whether a word of text begins with one of the beginnings, or is it if that ends
// with a $. Those that are not written with letters of an alphabet may be anywhere.
func hasWord(text string, beginnings []string) bool {
	text = strings.ToLower(norm.NFC.String(text))
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
	for _, b := range beginnings {
		if !inAlphabet(b) {
			if strings.Contains(text, b) {
				return true
			}
			continue
		}
		whole, isWhole := strings.CutSuffix(b, "$")
		for _, w := range words {
			if isWhole && w == whole || !isWhole && strings.HasPrefix(w, b) {
				return true
			}
		}
	}
	return false
}

// inAlphabet reports whether a word is of a language that writes spaces between words.
func inAlphabet(word string) bool {
	for _, r := range word {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.So) {
			return false
		}
	}
	return true
}
