import {
  DEFAULT_HORIZON,
  HORIZON_NAMES,
  HORIZONS_PATTERN,
  type HorizonChoice,
  horizonsInput,
  recordHorizonInput,
} from '../../../../forecast/horizon-input.ts';
import type { HorizonName } from '../../../../forecast/model.ts';
import { OracleError } from '../../../../platform/errors.ts';
import { describeParameter } from './describe-parameter.ts';

/** Query parameters of operations on the 7-day forecasts that cover other horizons on request. */
export const HORIZON_PARAMETERS = {
  horizon: recordHorizonInput
    .optional()
    .meta(
      describeParameter(
        { type: 'string', enum: [...HORIZON_NAMES], default: DEFAULT_HORIZON },
        'Only this horizon: days from the opening of the outcome window to its end; the number alone is accepted too, such as 7',
      ),
    ),
  horizons: horizonsInput
    .optional()
    .meta(
      describeParameter(
        { type: 'string', pattern: HORIZONS_PATTERN.source },
        'In place of `horizon`, several of them: names separated by commas, such as `2d,7d`, or `all`',
      ),
    ),
};

/** Horizons of a request, ascending. @throws OracleError INPUT_INVALID where both parameters are sent */
export function selectHorizons({ horizon, horizons }: { horizon?: HorizonName; horizons?: HorizonChoice }): HorizonName[] {
  if (horizon !== undefined && horizons !== undefined) {
    throw new OracleError('INPUT_INVALID', 'query parameter "horizons": stands beside "horizon", which names one already', {
      field: 'horizons',
      suggestedAction: 'Send "horizon" for one horizon, or "horizons" for several.',
    });
  }
  if (horizons !== undefined) return [...(horizons ?? HORIZON_NAMES)];
  return [horizon ?? DEFAULT_HORIZON];
}
