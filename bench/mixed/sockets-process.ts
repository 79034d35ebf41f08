import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { answerParent } from '../lib.ts';
import { openClient } from '../websocket/client.ts';
import { signLogin } from './requests.ts';

let open = 0;

const answers = {
  /** Logs a wallet in, and opens sockets of it that receive all events. */
  async connect({ url, key, count }: { url: string; key: Hex; count: number }): Promise<void> {
    const body = JSON.stringify(await signLogin(privateKeyToAccount(key)));
    const response = await fetch(`${url}/api/svc/oracle/verify`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
    if (!response.ok) throw new Error(`login: ${response.status} ${await response.text()}`);
    const { token } = (await response.json()) as { token: string };
    for (let index = 0; index < count; index++) {
      await openClient({ url: `${url}/ws/signal`, token, onEvent: () => undefined, onEnd: countEnd });
      open += 1;
    }
  },
  countOpen: () => open,
};

function countEnd(): void {
  open -= 1;
}

export type SocketsAnswers = typeof answers;

answerParent(answers);
