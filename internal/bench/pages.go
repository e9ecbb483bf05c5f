package main

import (
	"embed"
	"fmt"
	"strings"
	"text/template"
	"time"
)

//go:embed pages
var pages embed.FS

// render writes a page of docs/ with what was measured.
func render(name string, measured any) (string, error) {
	page, err := template.New(name).Funcs(template.FuncMap{
		"at": percentile, "joined": joined, "kilo": kilo, "mega": mega, "millis": millis, "minus": func(x, y float64) float64 { return x - y },
		"ms": ms, "points": points, "profiles": profiles, "ratios": ratios, "repeated": repeated, "verdict": verdict,
	}).ParseFS(pages, "pages/"+name)
	var b strings.Builder
	if err == nil {
		err = page.Execute(&b, measured)
	}
	if err != nil {
		return "", fmt.Errorf("write the page: %w", err)
	}

	return b.String(), nil
}

// toTheMinute is how pages say when they were measured.
const toTheMinute = "2006-01-02 15:04 UTC"

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", millis(d)) }

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func kilo(bytes float64) string { return fmt.Sprintf("%.1f kB", bytes/1000) }

func mega(kilobytes int) string { return fmt.Sprintf("%.0f MB", float64(kilobytes)/1024) }

func verdict(met bool) string {
	if met {
		return "met"
	}

	return "**missed**"
}

func joined(numbers []int) string {
	last := len(numbers) - 1

	return strings.ReplaceAll(strings.Trim(fmt.Sprint(numbers[:last]), "[]"), " ", ", ") + fmt.Sprintf(" and %d", numbers[last])
}
