package main

import (
	"cmp"
	"fmt"
	"math"
	"strings"
)

// series is one line of a plot: its value at each x, as a multiple of base, or of the first value if base is 0.
type series struct {
	name, color string
	dashes      int // dash length; 0 for none
	values      []float64
	base        float64
}

func (s *series) at(i int) float64 { return s.values[i] / cmp.Or(s.base, s.values[0]) }

// plot draws values over x as multiples; the xs are equidistant whatever their values.
func plot(about string, xs []int, all []series) string {
	const width, height, left, top, right, bottom = 640, 260, 50, 20, 160, 40
	most := 2.0
	for _, s := range all {
		for i := range s.values {
			most = max(most, math.Ceil(s.at(i)))
		}
	}
	x := func(i int) float64 { return left + float64(i)*(width-left-right)/float64(len(xs)-1) }
	y := func(v float64) float64 { return height - bottom - v/most*(height-top-bottom) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12"><rect width="100%%" height="100%%" fill="#fff"/>`+"\n", width, height)
	for step := range int(most) + 1 {
		fmt.Fprintf(&b, `<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end" fill="#555">%d x</text>`+"\n", left, y(float64(step)), width-right, left-8, y(float64(step))+4, step)
	}
	for i, n := range xs {
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle" fill="#555">%d</text>`+"\n", x(i), height-bottom+18, n)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle" fill="#555">%s</text>`+"\n", (left+width-right)/2, height-6, about)
	for i, s := range all {
		points := make([]string, len(s.values))
		for j := range s.values {
			points[j] = fmt.Sprintf("%.1f,%.1f", x(j), y(s.at(j)))
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2" stroke-dasharray="%d"/><text x="%d" y="%d" fill="%s">%s</text>`+"\n",
			strings.Join(points, " "), s.color, s.dashes, width-right+12, top+12+18*i, s.color, s.name)
	}

	return b.String() + "</svg>\n"
}

func (z *sizes) plot() string {
	lines := []series{{name: "queries", color: "#1b6ca8"}, {name: "prompt tokens", color: "#b5541c"}, {name: "rows written", color: "#3b7d3b"}, {name: "time to the reply", color: "#7a3b8f"}}
	var xs []int
	for _, g := range z.growth {
		xs = append(xs, g.Behind)
		for i, v := range []float64{g.Queries, g.Tokens, float64(g.Rows), g.Replied.Seconds()} {
			lines[i].values = append(lines[i].values, v)
		}
	}

	return plot("turns before", xs, lines)
}
