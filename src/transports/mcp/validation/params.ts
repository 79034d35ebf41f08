import { type JSONRPCRequest, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { isOracleError, OracleError } from '../../../platform/errors.ts';
import { parseInput } from '../../../platform/validation/parse-input.ts';
import { ADVICE_BY_METHOD } from '../errors/handler-errors.ts';

const text = z.string();
const object = z.record(text, z.unknown());
const page = z.object({ cursor: text.optional() });

const reference = z.discriminatedUnion(
  'type',
  [z.object({ type: z.literal('ref/prompt'), name: text }), z.object({ type: z.literal('ref/resource'), uri: text })],
  {
    error: 'must be {"type":"ref/prompt","name":...} or {"type":"ref/resource","uri":...}',
  },
);

/** What the protocol requires by method, as far as callers get it wrong: the SDK tells it with the text of its schemas. */
const PARAMS = new Map<string, z.ZodObject>([
  ['initialize', z.object({ protocolVersion: text, capabilities: object, clientInfo: z.object({ name: text, version: text }) })],
  ['tools/call', z.object({ name: text, arguments: object.optional() })],
  ['resources/read', z.object({ uri: text })],
  ['prompts/get', z.object({ name: text, arguments: z.record(text, text).optional() })],
  ['completion/complete', z.object({ ref: reference, argument: z.object({ name: text, value: text }) })],
  ...['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'].map((method) => [method, page] as const),
]);

/** Parameters that name what is asked for. */
const NAMING_FIELDS = ['name', 'uri', 'ref'];

/** What is wrong with the parameters of a request, INPUT_INVALID with `field`; undefined where nothing is. */
export function findParamsFault({ method, params = {} }: JSONRPCRequest): OracleError | undefined {
  const schema = PARAMS.get(method);
  if (schema === undefined || (method === 'initialize' && declaresRevision(params))) return undefined;
  try {
    parseInput(schema, params, { kind: 'parameter', root: 'params' });
    return undefined;
  } catch (error) {
    if (!isOracleError(error)) throw error;
    return addNamingAdvice(error, method);
  }
}

/** Such a request says so itself; greetings have gone with 2026-07-28, so that they are an unknown method there. */
function declaresRevision({ _meta }: NonNullable<JSONRPCRequest['params']>): boolean {
  return _meta !== undefined && PROTOCOL_VERSION_META_KEY in _meta;
}

/** Whoever names nothing is told what can be named. */
function addNamingAdvice(error: OracleError, method: string): OracleError {
  const { message, field } = error;
  if (field === undefined || !NAMING_FIELDS.includes(field)) return error;
  return new OracleError('INPUT_INVALID', message, { field, suggestedAction: ADVICE_BY_METHOD[method]?.suggestedAction });
}
