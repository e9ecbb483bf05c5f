package main

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"image/color"
	"strconv"
	"strings"
	"text/template"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
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

// series is one line of a plot: its value at each x, as a multiple of base, or of the first value if base is 0.
type series struct {
	name   string
	color  color.RGBA
	dashed bool
	values []float64
	base   float64
}

// draw plots how values change over x, as multiples, in an SVG. The xs are equally spaced, whatever their distance.
func draw(about string, xs []int, all []series) (string, error) {
	p := plot.New()
	p.X.Label.Text = about
	p.Y.Label.Text = "times"
	p.Y.Min = 0
	p.Legend.Top, p.Legend.Left = true, true
	labels := make([]string, len(xs))
	for i, x := range xs {
		labels[i] = strconv.Itoa(x)
	}
	p.NominalX(labels...)
	p.Add(plotter.NewGrid())
	for _, s := range all {
		line, err := plotter.NewLine(s.points())
		if err != nil {
			return "", fmt.Errorf("plot %s: %w", s.name, err)
		}
		line.Color, line.Width = s.color, vg.Points(1.5)
		if s.dashed {
			line.Dashes = []vg.Length{vg.Points(4)}
		}
		p.Add(line)
		p.Legend.Add(s.name, line)
	}
	picture, err := p.WriterTo(16*vg.Centimeter, 8*vg.Centimeter, "svg")
	if err != nil {
		return "", fmt.Errorf("plot %s: %w", about, err)
	}
	var b bytes.Buffer
	_, err = picture.WriteTo(&b)

	return b.String(), err
}

func (s *series) points() plotter.XYs {
	points := make(plotter.XYs, len(s.values))
	for i, v := range s.values {
		points[i] = plotter.XY{X: float64(i), Y: v / cmp.Or(s.base, s.values[0])}
	}

	return points
}
