package main

import (
	"io"
	"os"
	"sync"
	"time"

	"charm.land/bubbles/v2/spinner"
	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

// progress is a line at the end of a terminal that says what goes on, and gives way to whatever is printed.
type progress struct {
	out io.Writer

	mu    sync.Mutex
	what  string // "" for nothing
	frame int
	drawn bool
	stop  chan struct{} // closed to end the drawing
}

func newProgress(out io.Writer) *progress { return &progress{out: out} }

// Write implements io.Writer. What is written ends with its line.
func (p *progress) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()

	return p.out.Write(data)
}

// show says what goes on from now, "" for nothing.
func (p *progress) show(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.what = what
	switch {
	case what == "" && p.stop != nil:
		close(p.stop)
		p.stop = nil
		p.erase()
	case what != "" && p.stop == nil:
		p.stop = make(chan struct{})
		go p.turn(p.stop)
	}
}

func (p *progress) turn(stop <-chan struct{}) {
	tick := time.NewTicker(spinner.MiniDot.FPS)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			p.draw()
		}
	}
}

func (p *progress) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.what == "" {
		return
	}
	p.frame++
	frames := spinner.MiniDot.Frames
	line := ansi.Truncate(frames[p.frame%len(frames)]+" "+p.what+"…", widthOf(p.out)-len(beside)-1, "…")
	_, err := io.WriteString(p.out, "\r\x1b[K"+beside+faint(line))
	p.drawn = err == nil // a terminal that has gone shows nothing
}

func (p *progress) erase() {
	if p.drawn {
		_, _ = io.WriteString(p.out, "\r\x1b[K") // what is printed next fails in its own place
		p.drawn = false
	}
}

const usualWidth = 80

// widthOf is how many columns a screen has.
func widthOf(out io.Writer) int {
	if file, ok := out.(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			return width
		}
	}

	return usualWidth
}
