/**
 * `node sampling.ts on|off`: enters 50 traces of clients, each with the other flag than the sampler of roots decides, and prints how many
 * spans were exported.
 */
import { createRequire } from 'node:module';
import { connectTracer, flushSpans, inEntry } from '../../../src/platform/tracing.ts';

const { AlwaysOffSampler, AlwaysOnSampler, InMemorySpanExporter, NodeTracerProvider, ParentBasedSampler, SimpleSpanProcessor } =
  createRequire(import.meta.url)('@opentelemetry/sdk-trace-node');

const isOn = process.argv[2] === 'on';
const exporter = new InMemorySpanExporter();
new NodeTracerProvider({
  sampler: new ParentBasedSampler({ root: isOn ? new AlwaysOnSampler() : new AlwaysOffSampler() }),
  spanProcessors: [new SimpleSpanProcessor(exporter)],
}).register();
await connectTracer();
for (let index = 1; index <= 50; index++) {
  const parent = { traceId: String(index).padStart(32, '0'), spanId: 'b'.repeat(16), isSampled: !isOn };
  await inEntry({ name: 'GET', kind: 'server', parent, isFromClient: true, fields: {} }, async () => undefined);
}
await flushSpans();
console.log(exporter.getFinishedSpans().length);
