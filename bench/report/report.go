// Package report writes an analysis for people and programs: text for a terminal, Markdown, JSON and CSV.
//
// Each form is made whole in memory from the [analysis.Analysis] alone and is the same for the same analysis. Inside, times are
// seconds; only here are they given units that fit the eye. A number that does not exist is shown as a dash.
package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"pollbench/bench/analysis"
)

// Formats lists what [Write] knows.
func Formats() []string { return []string{"text", "markdown", "json", "csv"} }

// Write gives the analysis in that format.
func Write(a analysis.Analysis, format string) ([]byte, error) {
	switch format {
	case "text":
		return text(a), nil
	case "markdown":
		return markdown(a), nil
	case "json":
		return JSON(a)
	case "csv":
		return csvText(a)
	}
	return nil, fmt.Errorf("no report format %q: choose one of %s", format, strings.Join(Formats(), ", "))
}

// JSON is the analysis as it stands in the result folder.
func JSON(a analysis.Analysis) ([]byte, error) { return encode(a, "  ") }

// Line is the analysis as one line of JSON, for several in a row.
func Line(a analysis.Analysis) ([]byte, error) { return encode(a, "") }

func encode(a analysis.Analysis, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(a); err != nil {
		return nil, fmt.Errorf("write analysis as JSON: %w", err)
	}
	return b.Bytes(), nil
}

func text(a analysis.Analysis) []byte {
	var b bytes.Buffer
	if d := doubt(a.Health); d != "" {
		b.WriteString("WARNING: " + d + "\n")
	}
	b.WriteString(headline(a) + "\n")
	for _, t := range tables(a) {
		b.WriteString("\n" + t.title + "\n")
		b.WriteString(t.text())
	}
	b.WriteString("\n")
	for _, line := range conclusions(a) {
		b.WriteString(line + "\n")
	}
	for _, w := range a.Warnings {
		b.WriteString("warning: " + w + "\n")
	}
	return b.Bytes()
}

func markdown(a analysis.Analysis) []byte {
	var b bytes.Buffer
	if d := doubt(a.Health); d != "" {
		b.WriteString("> **Warning: " + d + "**\n\n")
	}
	b.WriteString("## " + a.Scenario + "\n\n" + headline(a) + "\n")
	for _, t := range tables(a) {
		b.WriteString("\n### " + t.title + "\n\n")
		b.WriteString(t.markdown())
	}
	b.WriteString("\n")
	for _, line := range conclusions(a) {
		b.WriteString("- " + line + "\n")
	}
	for _, w := range a.Warnings {
		b.WriteString("- **warning**: " + w + "\n")
	}
	return b.Bytes()
}
