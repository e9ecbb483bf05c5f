package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"alfred/client"
)

// A message is said, its turn awaited; what the API refuses is a problem with a code.
func Example() {
	ctx := context.Background()
	server := httptest.NewServer(http.HandlerFunc(stand)) // for your Alfred's address
	defer server.Close()

	api, err := client.New(server.URL, "alf_...")
	if err != nil {
		fmt.Println(err)

		return
	}
	session, err := api.CreateSessionWithResponse(ctx, nil, client.NewSession{})
	if err != nil {
		fmt.Println(err)

		return
	}
	turn, err := api.Say(ctx, session.JSON201.ID, "Show my recipes")
	if err != nil {
		fmt.Println(err)

		return
	}
	fmt.Println(turn.Status, *turn.Reply)

	_, err = api.Say(ctx, "another's", "Show my recipes")
	if problem, ok := errors.AsType[*client.Problem](err); ok && problem.Code == client.NotFound {
		fmt.Println("no such session")
	}
	// Output:
	// succeeded Found 3 recipes.
	// no such session
}

// stand answers as Alfred does.
func stand(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch r.Method + " " + r.URL.Path {
	case "POST /v1/sessions":
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"id": "s1"}`)
	case "POST /v1/sessions/s1/turns":
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, `{"id": "t1", "status": "running"}`)
	case "GET /v1/turns/t1":
		_, _ = io.WriteString(w, `{"id": "t1", "status": "succeeded", "reply": "Found 3 recipes."}`)
	default:
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"status": 404, "code": "not_found", "detail": "There is no such session."}`)
	}
}
