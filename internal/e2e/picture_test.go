package e2e_test

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// smaller writes a picture with its 256 most frequent colours, which is visually indistinguishable.
func smaller(t *testing.T, shot []byte) []byte {
	t.Helper()
	full, err := png.Decode(bytes.NewReader(shot))
	require.NoError(t, err)
	bounds := full.Bounds()
	seen := map[color.Color]int{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			seen[color.NRGBAModel.Convert(full.At(x, y))]++
		}
	}
	palette := make(color.Palette, 0, len(seen))
	for c := range seen {
		palette = append(palette, c)
	}
	slices.SortFunc(palette, func(a, b color.Color) int { return seen[b] - seen[a] })
	few := image.NewPaletted(bounds, palette[:min(256, len(palette))])
	draw.Draw(few, bounds, full, bounds.Min, draw.Src)
	var out bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, few))

	return out.Bytes()
}
