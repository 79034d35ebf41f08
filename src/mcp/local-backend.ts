import { type CarryOut, prepareCall } from '../../skills/runner.ts';
import type { Asker } from '../access/asker.ts';
import { type PublicSignalParts, publicSignal } from '../record/public-signal.ts';
import type { McpBackend } from './backend.ts';

export interface LocalBackendParts {
  signals: PublicSignalParts;
  carryOut: CarryOut;
  methodology: string;
}

/** What the service that this process is tells one asker. */
export function localBackend({ signals, carryOut, methodology }: LocalBackendParts, asker: Asker): McpBackend {
  return {
    run: async (skillId, input) => carryOut(prepareCall(skillId, input, asker.caller), asker),
    publicSignal: (horizon) => publicSignal(signals, Number.parseInt(horizon, 10), asker.caller),
    methodology,
  };
}
