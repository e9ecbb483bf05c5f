package main

import (
	"context"
	"fmt"
	"os"

	"alfred/internal/bench/peers/work"

	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/adk/session"
	"google.golang.org/adk/session/database"
	"google.golang.org/genai"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	l := work.Flags()
	kept, err := work.ReadKept(l)
	if err != nil {
		return err
	}
	pool, err := work.Open(ctx, l, 10)
	if err != nil {
		return err
	}
	open, err := gorm.Open(postgres.Open(l.URL), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		return err
	}
	conns, err := open.DB()
	if err != nil {
		return err
	}
	conns.SetMaxOpenConns(10)
	conns.SetMaxIdleConns(10)
	service, err := database.NewSessionService(postgres.New(postgres.Config{Conn: conns}), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		return err
	}
	if err := database.AutoMigrate(service); err != nil {
		return err
	}
	for s := range l.Sessions {
		if _, err := service.Create(ctx, &session.CreateRequest{AppName: "peer", UserID: owner(s), SessionID: owner(s)}); err != nil {
			return err
		}
	}
	work.Run(ctx, l, func(ctx context.Context, s, n int) error { return turn(ctx, service, pool, kept, owner(s), n) })

	return nil
}

func owner(s int) string { return fmt.Sprint("user ", s) }

func turn(ctx context.Context, service session.Service, pool *pgxpool.Pool, kept *work.Kept, who string, n int) error {
	got, err := service.Get(ctx, &session.GetRequest{AppName: "peer", UserID: who, SessionID: who})
	if err != nil {
		return err
	}
	say := func(author, text string) error {
		event := session.NewEvent(fmt.Sprint("turn ", n))
		event.Author = author
		event.Content = genai.NewContentFromText(text, genai.RoleUser)

		return service.AppendEvent(ctx, got.Session, event)
	}
	if err := say("user", fmt.Sprint("put milk on the list, ", n)); err != nil {
		return err
	}
	for _, node := range work.Nodes {
		said := work.Answer(node, n)
		switch node {
		case "read":
			rows := ""
			if err := pool.QueryRow(ctx, work.Read, who).Scan(&rows); err != nil {
				return err
			}
			said += rows
		case "write":
			if _, err := pool.Exec(ctx, work.Write, who, fmt.Sprint("milk ", n)); err != nil {
				return err
			}
		}
		for _, args := range kept.Statements(who, n, node) {
			if _, err := pool.Exec(ctx, work.Keep, args...); err != nil {
				return err
			}
		}
		if err := say(node, said); err != nil {
			return err
		}
	}

	return nil
}
