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
        'One horizon, in days from the opening of the outcome window to its end; bare numbers such as 7 are accepted',
      ),
    ),
  horizons: horizonsInput
    .optional()
    .meta(
      describeParameter(
        { type: 'string', pattern: HORIZONS_PATTERN.source },
        'Several horizons in place of `horizon`: names separated by commas, such as `2d,7d`, or `all`',
      ),
    ),
};

/** Horizons of a request, ascending. @throws OracleError INPUT_INVALID where both parameters are sent */
export function selectHorizons({ horizon, horizons }: { horizon?: HorizonName; horizons?: HorizonChoice }): HorizonName[] {
  if (horizon !== undefined && horizons !== undefined) {
    throw new OracleError('INPUT_INVALID', 'query parameter "horizons": cannot be combined with "horizon"', {
      field: 'horizons',
      suggestedAction: 'Send "horizon" for one horizon, or "horizons" for several.',
    });
  }
  if (horizons !== undefined) return [...(horizons ?? HORIZON_NAMES)];
  return [horizon ?? DEFAULT_HORIZON];
}
