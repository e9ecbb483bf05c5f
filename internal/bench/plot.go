package main

import (
	"bytes"
	"cmp"
	"fmt"
	"image/color"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

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
