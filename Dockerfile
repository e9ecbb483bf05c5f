# One image with both programs, and nothing else: no shell, no package manager, no root.
#   docker build --build-arg VERSION=v0.1.0 --tag alfred .
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=devel
RUN CGO_ENABLED=0 go build -trimpath -tags timetzdata -ldflags "-s -w -X alfred/cmd/internal/program.version=$VERSION" -o /out/ ./cmd/worker ./cmd/api

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/ /
USER 65532:65532
ENV ALFRED_ADDR=0.0.0.0:8080
EXPOSE 8080
CMD ["/worker", "run", "--json"]
