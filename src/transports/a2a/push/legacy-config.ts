import type { Request } from 'express';
import { isPlainObject } from '../../../platform/validation/plain-object.ts';

/** POST of it registers a callback over HTTP+JSON of A2A 0.3. */
const CONFIGS_PATH = /\/tasks\/([^/?]+)\/pushNotificationConfigs\/?(?:\?|$)/;

/**
 * Completes the body that registers a callback over HTTP+JSON of 0.3: the task is the one of the path, and `name` may be left out. Bodies
 * of the gRPC request (`{ parent, configId, config }`), as the Python client sends them, are read too.
 */
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
