import { type Readable, Transform, type TransformCallback, type Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { type McpServer, ProtocolErrorCode, parseJSONRPCMessage } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { type ClientError, OracleError, toClientError } from '../errors.ts';
import { getRpcId } from './protocol.ts';

interface StdioOptions {
  input: Readable;
  /** Carries protocol messages only. */
  output: Writable;
  /** Logs errors of the transport, which the client does not receive. */
  onError(error: unknown): void;
}

export function serveOverStdio(build: () => McpServer, { input, output, onError }: StdioOptions) {
  const lines = createLineFilter((rejection) => output.write(`${JSON.stringify(rejection)}\n`));
  const handle = serveStdio(build, { transport: new StdioServerTransport(lines, output), onerror: onError });
  const brokenPipe = new Promise<void>((resolve) => output.on('error', () => resolve()));
  /** Resolves when the client has closed its end of either pipe. */
  const disconnected = Promise.race([finished(input, { writable: false }), brokenPipe]).then(
    () => {},
    () => {},
  );
  input.pipe(lines);
  return { disconnected, close: () => handle.close() };
}

/** The body limit of MCP over HTTP. */
const MAX_LINE_BYTES = 64 * 1024;

const NEWLINE = 0x0a;

export interface LineRejection {
  jsonrpc: '2.0';
  id: string | number | null;
  error: { code: number; message: string; data: ClientError };
}

/** JSON-RPC 2.0, section 5, requires an answer to an invalid line; the transport of the SDK drops it silently. Empty lines are skipped. */
export function createLineFilter(onRejected: (rejection: LineRejection) => void): Transform {
  let kept: Buffer[] = [];
  let keptBytes = 0;
  const keep = (part: Buffer) => {
    keptBytes += part.length;
    // A line above the limit is read to its end without being buffered.
    if (keptBytes <= MAX_LINE_BYTES) kept.push(part);
  };
  const endLine = (into: Transform) => {
    const line = Buffer.concat(kept);
    const text = line.toString('utf8').trim();
    const rejection = keptBytes > MAX_LINE_BYTES ? lineTooLong() : findLineRejection(text);
    if (rejection !== null) onRejected(rejection);
    else if (text !== '') into.push(Buffer.concat([line, Buffer.of(NEWLINE)]));
    kept = [];
    keptBytes = 0;
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      let from = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
        keep(chunk.subarray(from, end));
        endLine(this);
        from = end + 1;
      }
      if (from < chunk.length) keep(chunk.subarray(from));
      done();
    },
  });
}

/** Null for a message, and for an empty line. */
function findLineRejection(line: string): LineRejection | null {
  if (line === '') return null;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return rejectLine(ProtocolErrorCode.ParseError, invalidLine('The line is not JSON'));
  }
  try {
    parseJSONRPCMessage(value);
    return null;
  } catch {
    return rejectLine(ProtocolErrorCode.InvalidRequest, invalidLine('The line is not a JSON-RPC message'), value);
  }
}

function invalidLine(message: string): OracleError {
  const suggestedAction = 'Send one JSON-RPC 2.0 message per line, in UTF-8, such as {"jsonrpc":"2.0","id":1,"method":"tools/list"}.';
  return new OracleError('INPUT_INVALID', message, { field: 'line', suggestedAction });
}

function lineTooLong(): LineRejection {
  const error = new OracleError('PAYLOAD_TOO_LARGE', `A message is larger than ${MAX_LINE_BYTES} bytes`, {
    field: 'line',
    suggestedAction: 'Send less: no tool needs as much.',
  });
  return rejectLine(ProtocolErrorCode.InvalidRequest, error);
}

function rejectLine(code: number, error: OracleError, value?: unknown): LineRejection {
  const data = toClientError(error);
  return { jsonrpc: '2.0', id: getRpcId(value), error: { code, message: `${data.message}. ${data.suggestedAction}`, data } };
}
