// Loaded by `node --import ./bin/service/otel.mjs bin/start.mjs`: records spans and sends them to an OTLP collector, as the OTEL_* variables
// of the SDK say. It opens connections of its own. It instruments no library: the service names its spans itself, without URLs and values.
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { OTEL_PACKAGES } from './otel-packages.mjs';

// Not `import`, which ignores NODE_PATH: the packages may stand in a folder of their own, which `npm ci` leaves alone.
const require = createRequire(import.meta.url);

// NODE_OPTIONS reaches npm and the hosts of database and chain too, which record nothing.
if (basename(process.argv[1] ?? '') === 'start.mjs') registerTracing();

function registerTracing() {
  const [{ BatchSpanProcessor, NodeTracerProvider }, { OTLPTraceExporter }, resources] = Object.keys(OTEL_PACKAGES).map(load);
  const { diag, DiagConsoleLogger, DiagLogLevel } = require('@opentelemetry/api');
  // A collector that cannot be reached is reported on standard error.
  diag.setLogger(new DiagConsoleLogger(), { logLevel: DiagLogLevel.ERROR });
  const { detectResources, envDetector, resourceFromAttributes } = resources;
  new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'bitcoin-signal-oracle' }).merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  }).register({ propagator: null });
}

function load(name) {
  try {
    return require(name);
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
    const packages = Object.entries(OTEL_PACKAGES).map(([each, version]) => `${each}@${version}`);
    const install = `npm install --prefix /opt/otel ${packages.join(' ')}`;
    throw new Error(`Traces need ${name}, which is not installed. Run ${install} and set NODE_PATH=/opt/otel/node_modules`, {
      cause: error,
    });
  }
}
