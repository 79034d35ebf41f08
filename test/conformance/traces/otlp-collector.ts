import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { listening } from '../../support/webhooks/receiver.ts';

/** A span as OTLP/HTTP sends it in JSON (opentelemetry-proto, trace.proto). */
export interface CollectedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[];
  links?: { traceId: string; spanId: string }[];
}

interface ExportRequest {
  resourceSpans: { scopeSpans: { spans: CollectedSpan[] }[] }[];
}

export interface OtlpCollector {
  url: string;
  spans: readonly CollectedSpan[];
  close(): Promise<void>;
}

/** Collects what an exporter sends to `/v1/traces`. */
export async function startCollector(): Promise<OtlpCollector> {
  const spans: CollectedSpan[] = [];
  const server = createServer(async (request, response) => {
    const { resourceSpans } = JSON.parse(await text(request)) as ExportRequest;
    if (request.url !== '/v1/traces') return void response.writeHead(404).end();
    spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
  const { port, close } = await listening(server);
  return { url: `http://127.0.0.1:${port}`, spans, close };
}
