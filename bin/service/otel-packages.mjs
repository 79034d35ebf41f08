/** The SDK that `otel.mjs` loads; not installed by default. */
export const OTEL_PACKAGES = {
  '@opentelemetry/sdk-trace-node': '2.12.1',
  '@opentelemetry/exporter-trace-otlp-http': '0.223.1',
  '@opentelemetry/resources': '2.12.1',
};
