import type { PredictionData } from '../../chain/eas/attestation-schemas.ts';
import { toSubject } from '../checks/prediction.ts';
import type { Prediction, Recorded } from '../evidence.ts';
import type { CheckedValue, FindingSubject, Findings } from '../findings.ts';

export function checkRecordedPrediction(prediction: Prediction, recorded: Recorded<PredictionData>, findings: Findings): void {
  const subject = toSubject(prediction);
  const because = 'it does not refer to the prediction of the day before in the record';
  findings.compare('link', subject, { field: 'refUid', expected: recorded.refUid, actual: prediction.refUid, because });
  compareRecorded(subject, prediction.data, recorded, findings);
}

/** Every field of the attestation has to be recorded. */
export function compareRecorded<Data extends object>(subject: FindingSubject, data: Data, recorded: Data, findings: Findings): void {
  for (const field of Object.keys(data) as (keyof Data & string)[]) {
    const [expected, actual] = [toValue(recorded[field]), toValue(data[field])];
    findings.compare('row', subject, { field, expected, actual, because: `the record has another ${field}` });
  }
}

function toValue(value: unknown): CheckedValue {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}
