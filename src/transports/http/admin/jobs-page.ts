import express, { type Request, type RequestHandler, type Response, Router } from 'express';
import { z } from 'zod';
import { OracleError } from '../../../platform/errors.ts';
import { limitInput, offsetInput } from '../server/parsing/parameters.ts';
import { parseRequest } from '../server/parsing/parse-request.ts';
import { readBody } from '../server/parsing/read-body.ts';
import { getRequestSource } from '../server/security/request-log.ts';
import type { AuditLog } from './audit-log.ts';
import type { JobsConsole, JobsSource } from './jobs-console.ts';

/** The UI framework sets inline styles. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const MAX_JOBS = 200;

const CHANGES = {
  requeue: async (jobs: JobsConsole, ids: string[]) => jobs.requeueJobs(ids),
  retry: async (jobs: JobsConsole, ids: string[]) => jobs.retryJobs(ids),
  delete: async (jobs: JobsConsole, ids: string[]) => jobs.deleteJobs(ids),
  pause: async (jobs: JobsConsole, ids: string[]) => jobs.pauseJobs(ids),
  resume: async (jobs: JobsConsole, ids: string[]) => jobs.resumeJobs(ids),
};

const text = z.string().max(100, 'must have at most 100 characters').optional();
const FILTER_SCHEMAS = {
  query: z.object({ job: text, state: text, q: text, skip: offsetInput(100_000), limit: limitInput(MAX_JOBS, 50) }),
};
const STATS_SCHEMAS = { query: z.object({ fullDetails: z.enum(['true', 'false'], 'must be true or false').default('false') }) };
const CHANGE_SCHEMAS = {
  params: z.object({ change: z.enum(Object.keys(CHANGES) as (keyof typeof CHANGES)[]) }),
  body: z.strictObject({
    jobIds: z
      .array(z.string().regex(/^[0-9a-f]{24}$/, 'must be a job id'), 'must be a list of job ids')
      .min(1, 'must name at least one job')
      .max(MAX_JOBS, `must name at most ${MAX_JOBS} jobs`),
  }),
};

/** Agendash with an API that validates requests and audits changes. It cannot create jobs: the schedule is code. */
export function createJobsPage(source: JobsSource, audit: AuditLog): RequestHandler {
  const page = Router({ strict: true });
  page.use((_request, response, next) => {
    response.set('Content-Security-Policy', POLICY);
    next();
  });
  page.get('/api', async (request, response) => {
    const { query } = parseJobsRequest(FILTER_SCHEMAS, request);
    const { job: name, q: search, ...filter } = query;
    response.json(await (await source.console()).getJobs({ ...filter, name, search }));
  });
  page.get('/api/stats', async (request, response) => void response.json(await readRunningJobs(source, request)));
  // Jobs write no logs of their own.
  page.get('/api/logs', (_request, response) => void response.json({ entries: [], total: 0, loggingEnabled: false }));
  page.post('/api/jobs/:change', (request, response) => changeJobs(source, audit, request, response));
  page.use(express.static(source.files, { cacheControl: false }));
  return page;
}

type JobsPageSchemas = Partial<Record<'params' | 'query' | 'body', z.ZodObject>>;
type Parsed<S extends JobsPageSchemas> = { [Place in keyof S]: S[Place] extends z.ZodObject ? z.output<S[Place]> : never };

function parseJobsRequest<S extends JobsPageSchemas>(schemas: S, request: Request): Parsed<S> {
  return parseRequest(schemas, request) as unknown as Parsed<S>;
}

async function readRunningJobs({ running }: JobsSource, request: Request): Promise<object> {
  const { query } = parseJobsRequest(STATS_SCHEMAS, request);
  const found = await running(query.fullDetails === 'true');
  if (found !== null) return found;
  const suggestedAction = 'The list of jobs is the same in all processes.';
  throw new OracleError('STEP_WAITING', 'This process runs no jobs, or not yet: query a worker', { suggestedAction });
}

async function changeJobs(source: JobsSource, audit: AuditLog, request: Request, response: Response): Promise<void> {
  await readBody(request, response);
  const { params, body } = parseJobsRequest(CHANGE_SCHEMAS, request);
  const { jobIds } = body;
  const auditedAction = { action: `jobs.${params.change}`, parameters: { jobIds: jobIds.join(' ') }, source: getRequestSource(response) };
  const work = async () => CHANGES[params.change](await source.console(), jobIds);
  response.json(await audit.run<object>(auditedAction, work, (result) => JSON.stringify(result)));
}
