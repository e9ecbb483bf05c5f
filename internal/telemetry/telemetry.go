package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// Config says who reports, and where.
type Config struct {
	Service  string // service.name: alfred-api, alfred-worker
	Version  string // service.version
	Instance string // service.instance.id
	// Collector is the base URL for traces and metrics via OTLP over HTTP (OTEL_EXPORTER_OTLP_ENDPOINT). The exporters
	// themselves read headers, intervals and the like from the other standard variables. Without it there are no
	// traces, and metrics only through Handler.
	Collector string
}

// Telemetry is a process's telemetry. Create it with Open; the zero value is unusable.
type Telemetry struct {
	Traces  trace.TracerProvider
	Metrics metric.MeterProvider

	registry *prometheus.Registry
	ends     []func(ctx context.Context) error // of what measures and exports
}

// Open creates the providers. An unreachable collector is not an error: what it misses is lost, and the work continues.
func Open(ctx context.Context, config Config) (*Telemetry, error) {
	who := resource.NewSchemaless(
		attribute.String("service.name", config.Service), attribute.String("service.version", config.Version),
		attribute.String("service.instance.id", config.Instance))
	collector := strings.TrimSuffix(config.Collector, "/")
	who, err := resource.Merge(who, resource.Environment())
	if err != nil {
		return nil, fmt.Errorf("describe the service: %w", err)
	}
	t := &Telemetry{Traces: noop.NewTracerProvider(), registry: prometheus.NewRegistry()}
	t.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	prom, err := exporter.New(exporter.WithRegisterer(t.registry), exporter.WithoutScopeInfo())
	if err != nil {
		return nil, fmt.Errorf("make Prometheus exporter: %w", err)
	}
	options := []sdkmetric.Option{sdkmetric.WithResource(who), sdkmetric.WithReader(prom), sdkmetric.WithView(seconds(), dropMetric("http.server.request.body.size"), dropMetric("http.server.response.body.size"))}
	if collector != "" {
		reader, err := t.otlp(ctx, collector, who)
		if err != nil {
			return nil, err
		}
		options = append(options, sdkmetric.WithReader(reader))
	}
	metrics := sdkmetric.NewMeterProvider(options...)
	t.Metrics, t.ends = metrics, append(t.ends, metrics.Shutdown)

	return t, nil
}

// otlp exports traces, and returns the reader that exports metrics.
func (t *Telemetry) otlp(ctx context.Context, collector string, who *resource.Resource) (sdkmetric.Reader, error) {
	spans, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(collector+"/v1/traces"))
	if err != nil {
		return nil, fmt.Errorf("make trace exporter: %w", err)
	}
	traces := sdktrace.NewTracerProvider(sdktrace.WithResource(who), sdktrace.WithBatcher(spans), sdktrace.WithIDGenerator(ids{}))
	t.Traces, t.ends = traces, append(t.ends, traces.Shutdown)
	metrics, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(collector+"/v1/metrics"))
	if err != nil {
		return nil, fmt.Errorf("make metric exporter: %w", err)
	}

	return sdkmetric.NewPeriodicReader(metrics), nil
}

// seconds sets buckets from a commit to a long generation, and drops the request's address.
func seconds() sdkmetric.View {
	return func(i sdkmetric.Instrument) (sdkmetric.Stream, bool) {
		if i.Kind != sdkmetric.InstrumentKindHistogram || i.Unit != "s" {
			return sdkmetric.Stream{}, false
		}

		return sdkmetric.Stream{
			AttributeFilter: attribute.NewDenyKeysFilter("server.address", "server.port", "network.protocol.name", "network.protocol.version", "url.scheme"),
			Name:            i.Name, Description: i.Description, Unit: i.Unit,
			Aggregation: sdkmetric.AggregationExplicitBucketHistogram{
				Boundaries: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 180},
			},
		}, true
	}
}

// dropMetric drops a metric.
func dropMetric(name string) sdkmetric.View {
	return sdkmetric.NewView(sdkmetric.Instrument{Name: name}, sdkmetric.Stream{Aggregation: sdkmetric.AggregationDrop{}})
}

// Handler serves the metrics in Prometheus's text format.
func (t *Telemetry) Handler() http.Handler {
	return promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{})
}

// Close sends what has not been sent, and ends.
func (t *Telemetry) Close(ctx context.Context) error {
	var errs []error
	for _, end := range t.ends {
		errs = append(errs, end(ctx))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close telemetry: %w", err)
	}

	return nil
}
