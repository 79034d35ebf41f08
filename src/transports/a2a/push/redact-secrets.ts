import type { TaskPushNotificationConfig } from '@a2a-js/sdk';

/** A push configuration without what its receiver knows us by. */
export function redactSecrets(config: TaskPushNotificationConfig): TaskPushNotificationConfig {
  const { authentication } = config;
  return { ...config, token: '', authentication: authentication && { ...authentication, credentials: '' } };
}
