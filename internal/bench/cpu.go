package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"alfred/internal/pg"
)

// ticksPerSecond is the unit of processor time in /proc.
const ticksPerSecond = 100

// cpu is processor time used so far.
type cpu struct {
	Own    time.Duration // this process: the worker, River and the clients
	Server time.Duration // the backends of the measured database; 0 if /proc does not show it
}

func (c cpu) minus(o cpu) cpu { return cpu{c.Own - o.Own, c.Server - o.Server} }

func (c cpu) plus(o cpu) cpu { return cpu{c.Own + o.Own, c.Server + o.Server} }

// cpu totals the time used. Backends that have ended are not included.
func (s *server) cpu(ctx context.Context) (cpu, error) {
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return cpu{}, fmt.Errorf("read own processor time: %w", err)
	}
	spent := cpu{Own: time.Duration(own.Utime.Nano() + own.Stime.Nano())}
	pids, err := pg.Collect(ctx, s.Admin, pgx.RowTo[int], "list backends", `SELECT pid FROM pg_stat_activity WHERE datname = $1`, s.database)
	if err != nil {
		return cpu{}, err
	}
	for _, pid := range pids {
		spent.Server += spentBy(pid)
	}

	return spent, nil
}

// spentBy is a process's user and system time, fields 14 and 15 of its stat; the name before them may contain spaces.
func spentBy(pid int) time.Duration {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat") //nolint:gosec // a number from Postgres
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const user, system = 11, 12
	if len(fields) <= system {
		return 0
	}
	u, _ := strconv.Atoi(fields[user])
	k, _ := strconv.Atoi(fields[system])

	return time.Duration(u+k) * time.Second / ticksPerSecond
}
