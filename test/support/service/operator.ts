import { composeAdministration } from '../../../src/app/transports.ts';
import type { AppOptions } from '../../../src/http/request.ts';
import { allRoutes } from '../../../src/http/routes.ts';
import { createApp } from '../../../src/http/server.ts';
import { createLog } from '../../../src/platform/log.ts';
import { formatStartupStep } from '../../../src/platform/progress.ts';
import { timeOf } from '../clock/trusted-time.ts';
import { type Served, serveApp } from '../http/serve.ts';
import type { TestService } from './service.ts';

/** Settings that let an operator in. */
export const OPERATOR = { ADMIN_USER: 'operator', ADMIN_PASSWORD: 'correct horse: battery staple' };

export const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

/** The `Authorization` header of that operator. */
export const AS_OPERATOR = basic(OPERATOR.ADMIN_USER, OPERATOR.ADMIN_PASSWORD);

export interface OperatorDoor extends Served {
  /** What was logged there. */
  lines: string[];
}

export interface OperatorDoorOptions extends Pick<AppOptions, 'limits' | 'trustProxy'> {
  now?(): Date;
  settings?: { ADMIN_USER?: string; ADMIN_PASSWORD?: string };
  role?: 'all' | 'api' | 'worker';
}

/** A service with admin routes, at the test's own time; without a schedule, like a process with `ROLE=api`. */
export async function operatorDoor(service: TestService, options: OperatorDoorOptions = {}): Promise<OperatorDoor> {
  const { settings = OPERATOR, role: ROLE = 'api', now = service.http.now, ...door } = options;
  const lines: string[] = [];
  const log = createLog({ level: 'debug', secrets: [], write: (line) => void lines.push(line) });
  const config = { ...service.config, ADMIN_USER: undefined, ADMIN_PASSWORD: undefined, ...settings, ROLE };
  const { pipeline, state, progress: setup } = service;
  const context = { ...pipeline, config, time: timeOf(now), log, now };
  const { administration, ...operator } = composeAdministration(context, state, () => formatStartupStep(setup));
  const parts = { ...service.http, administration, now };
  const app = createApp(allRoutes(parts), { ...service.appOptions, ...operator, ...door, log }, service.adapters);
  const served = await serveApp(app, { sockets: service });
  return { ...served, lines };
}
