import { z } from 'zod';
import { DEFAULT_HORIZON, recordHorizonInput, signalHorizonInput } from '../src/forecast/horizon-input.ts';

/** `horizon` of a forecast (interface, section 4), 7d unless sent. */
export const forecastHorizon = signalHorizonInput.prefault(DEFAULT_HORIZON);

/** `horizon` of the record, 7d unless sent. */
export const recordHorizon = recordHorizonInput.prefault(DEFAULT_HORIZON);

/** A day that forecasts were made on. */
export const DATE_INPUT = z.iso.date('must be a date of the form YYYY-MM-DD');
