import type { Address } from 'viem';
import type { AuthService } from '../../../auth/auth-service.ts';
import { SIGN_IN_HEADER } from '../../../auth/login/sign-in-with-x.ts';
import { OracleError } from '../../../platform/errors.ts';
import type { RouteInput } from '../server/route.ts';

const SIGN_IN_HINT = `Send the token of POST /api/svc/oracle/verify as Authorization: Bearer <token>, or ${SIGN_IN_HEADER}: base64 JSON of a signed EIP-4361 message with the nonce of GET /api/svc/oracle/nonce.`;

/**
 * The wallet of a session, or of a message signed for this request: that one needs no gate tokens, so that a wallet without them can
 * still end its access. The guard rejects API keys before. @throws OracleError UNAUTHENTICATED, INPUT_INVALID, CONFLICT, CHAIN_UNREACHABLE
 */
export async function requireWalletOwner(
  access: Pick<AuthService, 'verifySignIn'>,
  { caller, context, header }: Pick<RouteInput<unknown, unknown, unknown>, 'caller' | 'context' | 'header'>,
): Promise<Address> {
  if (caller.wallet !== undefined) return caller.wallet;
  const signIn = header(SIGN_IN_HEADER);
  if (signIn === undefined || caller.rejectedToken !== undefined) {
    const problem = caller.rejectedToken ?? 'This needs a login, or a message signed by the wallet';
    throw new OracleError('UNAUTHENTICATED', problem, { field: 'Authorization', suggestedAction: SIGN_IN_HINT });
  }
  // The signature of a contract wallet is checked on chain.
  await context.countChainCall();
  const { wallet, useNonce } = await access.verifySignIn(signIn, SIGN_IN_HINT);
  await useNonce();
  return wallet;
}
