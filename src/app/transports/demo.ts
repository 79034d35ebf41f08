import type { AuthService } from '../../auth/auth-service.ts';
import { createDemoWallets } from '../../dev/demo/demo-wallets.ts';
import type { DemoWallets } from '../../transports/http/demo/demo-wallets.ts';
import type { ServiceCore } from '../core.ts';

/** The wallets of a local chain; null on a real one, where this process knows none. */
export function composeDemo({
  infrastructure: { demo },
  access,
  now,
}: Pick<ServiceCore, 'infrastructure' | 'now'> & { access: Pick<AuthService, 'logIn' | 'acts'> }): DemoWallets | null {
  return demo === null ? null : createDemoWallets({ wallets: demo.wallets, access, now });
}
