import type { Request } from 'express';
import { isPlainObject } from '../../../platform/validation/plain-object.ts';

/** Registers a callback over HTTP+JSON 0.3, by POST. */
const CONFIGS_PATH = /\/tasks\/([^/?]+)\/pushNotificationConfigs\/?(?:\?|$)/;

/** The task comes from the path, `name` is optional, and `{ parent, configId, config }` of the Python client (gRPC form) is accepted. */
export function completeLegacyConfig(request: Request): void {
  const taskId = CONFIGS_PATH.exec(request.originalUrl)?.[1];
  if (request.method !== 'POST' || taskId === undefined || !isPlainObject(request.body)) return;
  const { config, configId } = request.body;
  const sent: Record<string, unknown> = isPlainObject(config) ? config : request.body;
  const pushNotificationConfig = isPlainObject(sent.pushNotificationConfig)
    ? { ...(typeof configId === 'string' && { id: configId }), ...sent.pushNotificationConfig }
    : sent.pushNotificationConfig;
  request.body = { ...sent, name: `tasks/${taskId}/pushNotificationConfigs/`, pushNotificationConfig };
}
