import { z } from 'zod';
import { DEFAULT_HORIZON, recordHorizonInput, signalHorizonInput } from '../src/forecast/horizon-input.ts';

/** `horizon` of a forecast (interface, section 4), default 7d. */
export const forecastHorizon = signalHorizonInput.prefault(DEFAULT_HORIZON);

/** `horizon` of the record, default 7d. */
export const recordHorizon = recordHorizonInput.prefault(DEFAULT_HORIZON);

export const DATE_INPUT = z.iso.date('must be a date of the form YYYY-MM-DD');
