import { allRoutes } from '../../../src/http/routes.ts';
import { createListener } from '../../../src/http/server.ts';
import { findFreePort, type Served, serveApp } from '../http/serve.ts';
import { type TestService, unresolvedService } from '../service/service.ts';

export interface OAuthService extends Served {
  service: TestService;
}

/**
 * A service under the URL that it is served at: clients compare the names of issuer and resource with it.
 * @param days with a forecast each, none of them resolved
 */
export async function serveOAuthService(days = 0, environment: Record<string, string> = {}): Promise<OAuthService> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const service = await unresolvedService(days, { PUBLIC_URL: url, ...environment });
  const served = await serveApp(createListener(allRoutes(service.http), service.appOptions, service.adapters), { port });
  const close = async () => {
    await served.close();
    await service.stop();
  };
  return { service, url, close };
}
