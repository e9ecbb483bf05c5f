package chaos_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// process is one that a test has started and may kill.
type process struct {
	cmd  *exec.Cmd
	log  *os.File
	done chan struct{} // closed when it has ended
}

// spawn starts a program; it is killed when the test ends, and its log shown if that fails.
func spawn(t *testing.T, env []string, program string, args ...string) *process {
	t.Helper()

	log, err := os.CreateTemp(theLab.dir, filepath.Base(program)+"-*.log")
	require.NoError(t, err)
	p := &process{cmd: exec.Command(program, args...), log: log, done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	require.NoError(t, p.cmd.Start())
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // that it was killed is no news
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("%s %d:\n%s", filepath.Base(program), p.cmd.Process.Pid, p.tail())
		}
		_ = log.Close()
	})

	return p
}

// tail is the end of the log.
func (p *process) tail() []byte {
	text, err := os.ReadFile(p.log.Name())
	if err != nil {
		return []byte(err.Error())
	}
	const lines = 60
	parts := bytes.Split(text, []byte("\n"))

	return bytes.Join(parts[max(0, len(parts)-lines):], []byte("\n"))
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
func (l *lab) worker(t *testing.T, url, script string, args ...string) *process {
	t.Helper()

	return spawn(t, []string{"DATABASE_URL=" + url, "ALFRED_LLM=script", "ALFRED_SCRIPT=" + script},
		filepath.Join(l.programs, "worker"), append([]string{"run"}, args...)...)
}
