package chaos_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// process is a process that a test has started and may kill.
type process struct {
	cmd  *exec.Cmd
	log  *os.File
	done chan struct{} // closed when it has ended
}

// spawn starts a program; it is killed when the test ends.
func spawn(t *testing.T, env []string, program string, args ...string) *process {
	t.Helper()

	log, err := os.CreateTemp(theWorkshop.dirOf(t), filepath.Base(program)+"-*.log")
	require.NoError(t, err)
	p := &process{cmd: exec.Command(program, args...), log: log, done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	require.NoError(t, p.cmd.Start())
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // being killed is not an error
	}()
	t.Cleanup(func() {
		p.kill()
		_ = log.Close()
	})

	return p
}

// complaint matches the log lines that a failed test shows: warnings, errors, and anything that is not a log line, such
// as a panic.
var complaint = regexp.MustCompile(`level=(?:WARN|ERROR)|"level":"(?:WARN|ERROR)"`)

// changing matches what makes two equivalent lines differ.
var changing = regexp.MustCompile(`time=\S+ |"time":"[^"]*",?|[0-9a-f]{8}-[0-9a-f-]{27}|\d+`)

// complaints returns the distinct warnings and errors in all logs of the lab with their counts, most frequent first.
func (l *lab) complaints() string {
	const shown, width = 20, 240
	counts := map[string]int{}
	names, _ := filepath.Glob(filepath.Join(l.dir, "*.log"))
	for _, name := range names {
		text, _ := os.ReadFile(name)
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" && (complaint.MatchString(line) || !strings.Contains(line, "level")) {
				line = changing.ReplaceAllString(line, "~")
				counts[line[:min(len(line), width)]]++
			}
		}
	}
	lines := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
	var b strings.Builder
	for _, line := range lines[:min(len(lines), shown)] {
		fmt.Fprintf(&b, "%6d  %s\n", counts[line], line)
	}

	return b.String()
}

// kill is kill -9. It returns when the process is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may be gone already
	<-p.done
}

func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// worker starts the built worker.
func (l *lab) worker(t *testing.T, url, script string) *process {
	t.Helper()

	return l.workerAt(t, "", url, script)
}

// workerAt starts it with a clock as testdata/clock.go.txt reads it.
func (l *lab) workerAt(t *testing.T, clock, url, script string, args ...string) *process {
	t.Helper()

	return spawn(t, []string{"DATABASE_URL=" + url, "ALFRED_LLM=script", "ALFRED_SCRIPT=" + script, "WRONG_CLOCK=" + clock},
		filepath.Join(l.programs, "worker"), append([]string{"run", "--compare-carried"}, args...)...)
}
