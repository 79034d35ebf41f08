import { Transform, type TransformCallback } from 'node:stream';
import { ProtocolErrorCode } from '@modelcontextprotocol/server';
import { OracleError } from '../../../platform/errors.ts';
import { type RpcErrorBody, toRpcError } from '../errors/rpc-error.ts';
import { findMessageFault } from '../validation/json-rpc-message.ts';

/** As over HTTP. */
const MAX_LINE_BYTES = 64 * 1024;

const NEWLINE = 0x0a;

/** What is wrong with a line, for its sender. */
export interface RejectedLine {
  jsonrpc: '2.0';
  id: string | number | null;
  error: RpcErrorBody;
}

/**
 * Lets lines pass that are messages of JSON-RPC, empty ones aside, and has every other refused: the transport behind it drops those
 * without a word.
 */
export function createLineFilter(onRejected: (rejected: RejectedLine) => void): Transform {
  let kept: Buffer[] = [];
  let keptBytes = 0;
  const keep = (part: Buffer) => {
    keptBytes += part.length;
    // What is too long is read to its end, and not held.
    if (keptBytes <= MAX_LINE_BYTES) kept.push(part);
  };
  const lineEnds = (into: Transform) => {
    const line = Buffer.concat(kept);
    const rejected = keptBytes > MAX_LINE_BYTES ? lineTooLong() : findLineRejection(line.toString('utf8').trim());
    if (rejected === undefined) into.push(Buffer.concat([line, Buffer.of(NEWLINE)]));
    else if (rejected !== null) onRejected(rejected);
    kept = [];
    keptBytes = 0;
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      let from = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
        keep(chunk.subarray(from, end));
        lineEnds(this);
        from = end + 1;
      }
      if (from < chunk.length) keep(chunk.subarray(from));
      done();
    },
  });
}

/** Undefined: a message; null: nothing to answer to. */
function findLineRejection(line: string): RejectedLine | undefined | null {
  if (line === '') return null;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return buildLineRejection(
      ProtocolErrorCode.ParseError,
      invalidLine('line', 'A line is not JSON', 'Send one JSON-RPC message a line, in UTF-8.'),
    );
  }
  const fault = Array.isArray(value) ? invalidLine('batch', 'A line is a batch', 'Send one message a line.') : findMessageFault(value);
  return fault === undefined ? undefined : buildLineRejection(ProtocolErrorCode.InvalidRequest, fault, value);
}

function lineTooLong(): RejectedLine {
  const error = new OracleError('PAYLOAD_TOO_LARGE', `A message is larger than ${MAX_LINE_BYTES} bytes`, {
    field: 'line',
    suggestedAction: 'Send less: no tool needs as much.',
  });
  return buildLineRejection(ProtocolErrorCode.InvalidRequest, error);
}

function invalidLine(field: string, message: string, suggestedAction: string): OracleError {
  return new OracleError('INPUT_INVALID', message, { field, suggestedAction });
}

function buildLineRejection(code: number, error: OracleError, value?: unknown): RejectedLine {
  const id = (value as { id?: unknown } | null | undefined)?.id;
  const known = typeof id === 'number' || (typeof id === 'string' && id.length <= 100);
  return { jsonrpc: '2.0', id: known ? id : null, error: toRpcError(code, error) };
}
