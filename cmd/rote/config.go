package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"gopkg.in/yaml.v3"

	"rote/routine"
)

// BeforeResolve makes kong look up flags that were not given in the file of
// --config.
func (*cli) BeforeResolve(k *kong.Kong, c *kong.Context) error {
	for _, flag := range k.Model.Flags {
		if path, ok := c.FlagValue(flag).(configFile); ok && path != "" {
			settings, err := readSettings(string(path), k.Model.Node)
			if err != nil {
				return err
			}
			c.AddResolver(settings)
		}
	}
	return nil
}

// settings are the flag values of a file, by command. Those of the root apply
// to all commands. It implements kong.Resolver.
type settings map[*kong.Node]map[string]any

func (s settings) Validate(*kong.Application) error { return nil }

// Resolve returns the file's value of a flag for the selected command. The
// environment overrides it.
func (s settings) Resolve(c *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if name, _ := lookupEnvironment(flag); name != "" {
		return nil, nil
	}
	n := c.Selected()
	if n == nil {
		n = c.Model.Node
	}
	for ; n != nil; n = n.Parent {
		if value, ok := s[n][flag.Name]; ok {
			return value, nil
		}
	}
	return nil, nil
}

// readSettings reads a file of flags. It checks all of it, because a misspelled
// flag would otherwise be ignored silently.
func readSettings(path string, root *kong.Node) (settings, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if !errors.Is(decoder.Decode(&second), io.EOF) {
		return nil, fmt.Errorf("%s: write all flags in one YAML document", path)
	}
	s := settings{}
	if err := s.readCommand(root, document.Content[0]); err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	return s, nil
}

// readCommand reads the flags of a command and its subcommands. Errors start
// with the line number.
func (s settings) readCommand(command *kong.Node, mapping *yaml.Node) error {
	if mapping.Kind != yaml.MappingNode {
		return fmt.Errorf("%d: write the name of each flag, a colon and its value", mapping.Line)
	}
	if s[command] != nil {
		return fmt.Errorf("%d: %s is set twice", mapping.Line, command.Name)
	}
	s[command] = map[string]any{}
	flags := flagsOf(command)
	for i := 0; i < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		if below := subcommand(command, key.Value); below != nil && value.Kind == yaml.MappingNode {
			if err := s.readCommand(below, value); err != nil {
				return err
			}
			continue
		}
		flag, err := flags[key.Value], error(nil)
		if _, twice := s[command][key.Value]; flag == nil {
			err = unknownFlag(key.Value, command, flags)
		} else if !isSetting(flag) || flag.Name == "config" {
			err = fmt.Errorf("--%s cannot be set in a file: give it on the command line", flag.Name)
		} else if twice {
			err = fmt.Errorf("%s is set twice", key.Value)
		} else {
			s[command][key.Value], err = flagValue(flag, value)
		}
		if err != nil {
			return fmt.Errorf("%d: %w", key.Line, err)
		}
	}
	return nil
}

func subcommand(command *kong.Node, name string) *kong.Node {
	for _, c := range command.Children {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// flagsOf returns the flags that may be set for a command: its own and those of
// its parents and subcommands, because one file may serve several commands.
func flagsOf(command *kong.Node) map[string]*kong.Flag {
	flags := map[string]*kong.Flag{}
	add := func(n *kong.Node) {
		for _, flag := range n.Flags {
			flags[flag.Name] = flag
		}
	}
	var below func(*kong.Node)
	below = func(n *kong.Node) {
		add(n)
		for _, c := range n.Children {
			below(c)
		}
	}
	below(command)
	for n := command.Parent; n != nil; n = n.Parent {
		add(n)
	}
	return flags
}

func unknownFlag(name string, command *kong.Node, flags map[string]*kong.Flag) error {
	words := fmt.Sprintf("no flag is named %q", name)
	if command.Type == kong.CommandNode {
		words = fmt.Sprintf("%s has no flag %q", command.Name, name)
	}
	names := slices.DeleteFunc(slices.Collect(maps.Keys(flags)), func(name string) bool { return !isSetting(flags[name]) })
	if hint := routine.DidYouMean(name, names); hint != "" {
		words += "; " + hint
	}
	return errors.New(words)
}

// flagValue returns the value of a flag in the file: a text, or a list of texts
// for a repeatable flag.
func flagValue(flag *kong.Flag, value *yaml.Node) (v any, err error) {
	items, texts := []*yaml.Node{value}, []any{}
	if value.Kind == yaml.SequenceNode && flag.IsSlice() {
		items = value.Content
	}
	for _, item := range items {
		if item.Kind != yaml.ScalarNode || item.Tag == "!!null" {
			return nil, fmt.Errorf("%s takes %s", flag.Name, expectedValue(flag))
		}
		if flag.Enum != "" && !flag.EnumMap()[item.Value] {
			return nil, fmt.Errorf("%s is %s, not %q", flag.Name, strings.Join(flag.EnumSlice(), " or "), item.Value)
		}
		texts = append(texts, item.Value)
	}
	v = texts
	if !flag.IsSlice() {
		v = value.Value
	}
	scan := kong.Scan().PushTyped(v, kong.FlagValueToken)
	if err := flag.Mapper.Decode(&kong.DecodeContext{Value: flag.Value, Scan: scan}, reflect.New(flag.Target.Type()).Elem()); err != nil {
		return nil, fmt.Errorf("%s: %w", flag.Name, err)
	}
	return v, nil
}

func expectedValue(flag *kong.Flag) string {
	if flag.IsSlice() {
		return "a value or a list of them"
	}
	return "one value"
}
