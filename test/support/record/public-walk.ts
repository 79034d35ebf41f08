import { formatDay, formatWeek, toWeek } from '../../../src/forecast/day.ts';
import { getPageBundle } from '../../../src/http/routes/home.ts';
import type { Ask, HttpAnswer } from '../http/ask.ts';
import { type NamedOperation, type OpenApi, operationsOf } from '../http/openapi.ts';
import type { TestService } from '../service/service.ts';
import { untoldForecasts } from './planted-forecast.ts';

/** One way to ask one operation. */
export interface Variant {
  operationId: string;
  path: string;
  accept: string;
  /** `GET <path> as <media type>`. */
  label: string;
}

type Values = Record<string, readonly string[]>;

/** What a parameter may be asked for on a service, by its name: everything that is there, and something that is not. */
export async function parameterValues(service: TestService): Promise<Values> {
  const { forecasts, days } = service.pipeline.record;
  const untold = await untoldForecasts(service);
  const published = await forecasts
    .find({ reveal: { $ne: null } })
    .limit(4)
    .toArray();
  const dates = (await days.find().sort({ day: 1 }).toArray()).map(({ day }) => day);
  const wagers = (await service.pipeline.wagers.wagers.find().toArray()).map(({ day }) => day);
  const around = [...new Set([dates[0] - 1, ...dates, dates[dates.length - 1] + 1, ...wagers])];
  const uids = [
    ...untold.map(({ attestation }) => attestation!.uid),
    ...published.flatMap(({ attestation, reveal }) => [attestation!.uid, reveal!.uid]),
    `0x${'1'.repeat(64)}`,
  ];
  const payments = await service.http.commerce.ledger.payments.find().limit(2).toArray();
  return {
    txHash: [...payments.map(({ txHash }) => txHash), `0x${'1'.repeat(64)}`],
    payer: [...payments.map(({ payer }) => payer), `0x${'1'.repeat(40)}`],
    tag1: ['starred'],
    tag2: ['oracle'],
    uid: uids,
    before: uids,
    cid: [...new Set([...untold, ...published].map(({ cid }) => cid))],
    date: around.map(formatDay),
    from: around.map(formatDay),
    to: around.map(formatDay),
    weekId: [...new Set(around.map((day) => formatWeek(toWeek(day))))],
    wallet: Object.values(service.infrastructure.demo!.wallets).map(({ address }) => address),
    ref: ['nobody'],
    url: [`${service.http.publicUrl}/`],
    // Beside those that are named by their operation.
    file: [...getPageBundle().files.keys(), 'nothing.js'],
    jobId: ['1'],
    id: ['00000000-0000-4000-8000-000000000000'],
    events: ['signal.new', 'signal.new,wager.placed'],
    horizons: ['7d', '1d,2d', 'all'],
    moveSize: ['WILD', 'CALM,WILD'],
    since: ['0', '1'],
    sinceId: ['0', '1'],
    token: ['nobody'],
    ticket: ['nobody'],
  };
}

/** Every GET of a document, in each of its media types, with each value of each parameter. @throws Error for a parameter without values */
export function variantsOf(document: OpenApi, values: Values): Variant[] {
  return operationsOf(document)
    .filter(({ method }) => method === 'get')
    .flatMap((operation) => {
      const paths = pathsOf(operation, values);
      return mediaTypesOf(operation).flatMap((accept) =>
        paths.map((path) => ({ operationId: operation.operationId, path, accept, label: `GET ${path} as ${accept}` })),
      );
    });
}

function mediaTypesOf({ responses }: NamedOperation): string[] {
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
  const types = success !== undefined && 'content' in success ? Object.keys(success.content ?? {}) : [];
  return types.length === 0 ? ['*/*'] : types;
}

/** One parameter at a time, the others at their defaults. */
function pathsOf(operation: NamedOperation, values: Values): string[] {
  const { path, operationId, parameters: all = [] } = operation;
  // A payment in a header buys what is walked through without one.
  const parameters = all.filter((parameter) => parameter.in !== 'header');
  const choices = parameters.map((parameter) => ({ ...parameter, all: choicesOf(parameter, values, operationId) }));
  const base = choices.filter(({ required }) => required).map(({ name, all }): [string, string] => [name, all[0]]);
  const requests = [
    base,
    ...choices.flatMap(({ name, all }) =>
      all.map((value) => [...base.filter(([other]) => other !== name), [name, value] as [string, string]]),
    ),
  ];
  const inPath = new Set(parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name));
  return [...new Set(requests.map((request) => filled(path, request, inPath)))];
}

function filled(path: string, request: [string, string][], inPath: ReadonlySet<string>): string {
  const published = Object.fromEntries(request);
  const query = new URLSearchParams(request.filter(([name]) => !inPath.has(name))).toString();
  const route = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(published[name]));
  return query === '' ? route : `${route}?${query}`;
}

type Parameter = NonNullable<NamedOperation['parameters']>[number];

interface ParameterSchema {
  anyOf?: ParameterSchema[];
  enum?: unknown[];
  type?: string;
  minimum?: number;
  maximum?: number;
}

function choicesOf({ name, schema }: Parameter, values: Values, operationId: string): string[] {
  const { anyOf, enum: options, type, minimum, maximum } = schema as ParameterSchema;
  if (anyOf !== undefined)
    return [...new Set(anyOf.flatMap((form) => choicesOf({ name, schema: form } as Parameter, values, operationId)))];
  if (options !== undefined) return options.map(String);
  if (type === 'integer') return [minimum, maximum].flatMap((bound) => (bound === undefined ? [] : [String(bound)]));
  if (values[name]?.length) return [...values[name]];
  throw new Error(`${operationId}: no values of "${name}" are known`);
}

/** Asks for each, one after the other. */
export async function walk(ask: Ask, variants: readonly Variant[], headers: Record<string, string> = {}): Promise<Map<string, HttpAnswer>> {
  const answers = new Map<string, HttpAnswer>();
  for (const { path, accept, label } of variants) answers.set(label, await ask(path, { headers: { Accept: accept, ...headers } }));
  return answers;
}
