import { Transform, type TransformCallback } from 'node:stream';
import { ProtocolErrorCode } from '@modelcontextprotocol/server';
import { OracleError } from '../errors.ts';
import { messageFault } from './message-fault.ts';
import { type RpcError, rpcError } from './rpc-error.ts';

/** As over HTTP. */
const LARGEST_LINE_BYTES = 64 * 1024;

const NEWLINE = 0x0a;

/** What is wrong with a line, for its sender. */
export interface RefusedLine {
  jsonrpc: '2.0';
  id: string | number | null;
  error: RpcError;
}

/**
 * Lets lines pass that are messages of JSON-RPC, empty ones aside, and has every other refused: the transport behind it drops those
 * without a word.
 */
export function messageLines(refuse: (refused: RefusedLine) => void): Transform {
  let kept: Buffer[] = [];
  let keptBytes = 0;
  const keep = (part: Buffer) => {
    keptBytes += part.length;
    // What is too long is read to its end, and not held.
    if (keptBytes <= LARGEST_LINE_BYTES) kept.push(part);
  };
  const lineEnds = (into: Transform) => {
    const line = Buffer.concat(kept);
    const refused = keptBytes > LARGEST_LINE_BYTES ? tooLong() : refusalOf(line.toString('utf8').trim());
    if (refused === undefined) into.push(Buffer.concat([line, Buffer.of(NEWLINE)]));
    else if (refused !== null) refuse(refused);
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
function refusalOf(line: string): RefusedLine | undefined | null {
  if (line === '') return null;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return refusal(ProtocolErrorCode.ParseError, invalid('line', 'A line is not JSON', 'Send one JSON-RPC message a line, in UTF-8.'));
  }
  const fault = Array.isArray(value) ? invalid('batch', 'A line is a batch', 'Send one message a line.') : messageFault(value);
  return fault === undefined ? undefined : refusal(ProtocolErrorCode.InvalidRequest, fault, value);
}

function tooLong(): RefusedLine {
  const error = new OracleError('PAYLOAD_TOO_LARGE', `A message is larger than ${LARGEST_LINE_BYTES} bytes`, {
    field: 'line',
    suggestedAction: 'Send less: no tool needs as much.',
  });
  return refusal(ProtocolErrorCode.InvalidRequest, error);
}

function invalid(field: string, message: string, suggestedAction: string): OracleError {
  return new OracleError('INPUT_INVALID', message, { field, suggestedAction });
}

function refusal(code: number, error: OracleError, value?: unknown): RefusedLine {
  const id = (value as { id?: unknown } | null | undefined)?.id;
  const known = typeof id === 'number' || (typeof id === 'string' && id.length <= 100);
  return { jsonrpc: '2.0', id: known ? id : null, error: rpcError(code, error) };
}
