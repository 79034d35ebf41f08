import type { Clock } from '../../../src/events/websocket/connection.ts';
import { allRoutes } from '../../../src/http/routes.ts';
import { createApp } from '../../../src/http/server.ts';
import { serveApp } from '../http/serve.ts';
import { type TestService, testService, today } from '../service/service.ts';
import { changesOf } from './push-changes.ts';

export interface PushService extends TestService {
  /** Runs a further day of the record to its resolution and publishes it; returns the number of events. */
  liveDay(): Promise<number>;
}

/** Days that a service has to live. */
const DAYS = 20;

/** A service without a past, which delivers to webhooks of this machine, and whose days are lived when a test wants it. */
export async function pushService(): Promise<PushService> {
  const service = await testService(0, { PUSH_LOCAL_TARGETS: 'allow' });
  const { record, wagers } = service.pipeline;
  const days = changesOf({ record, wagers }, { from: today() - 2 * DAYS, days: DAYS });
  const ofOneDay = days.length / DAYS;
  await service.webhookDelivery.start();
  return {
    ...service,
    async liveDay() {
      for (const { make } of days.splice(0, ofOneDay)) await make();
      return service.push.publish();
    },
  };
}

/** Its routes and its WebSocket. @param port 0: a free one; clock: of the connections, unset: that of the platform */
export function servePush(service: TestService, { port = 0, clock }: { port?: number; clock?: Clock } = {}): ReturnType<typeof serveApp> {
  const { http, appOptions: door, adapters: doors } = service;
  const websocket = { ...service.websocket, open: () => service.websocket.open(clock) };
  return serveApp(createApp(allRoutes(http), door, doors), { port, sockets: { websocket, appOptions: door } });
}
