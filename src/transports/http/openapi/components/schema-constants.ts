import { z } from 'zod';
import { ADDRESS, BYTES32 } from '../../../../platform/validation/fields.ts';
import * as attestationsRecord from '../../../../record/schemas/attestations.ts';
import * as breakdownRecord from '../../../../record/schemas/breakdown.ts';
import * as brierRecord from '../../../../record/schemas/brier.ts';
import * as forecastRecord from '../../../../record/schemas/forecast.ts';
import * as marketContextRecord from '../../../../record/schemas/market-context.ts';
import * as oracleRecord from '../../../../record/schemas/oracle.ts';
import * as predictionVerificationRecord from '../../../../record/schemas/prediction-verification.ts';
import * as scorecardRecord from '../../../../record/schemas/scorecard.ts';
import * as signalRecord from '../../../../record/schemas/signal.ts';
import * as statisticsRecord from '../../../../record/schemas/statistics.ts';
import * as trackRecordRecord from '../../../../record/schemas/track-record.ts';
import * as adminSchemas from '../../admin/schemas.ts';
import * as agentCardSchemas from '../../agent/card/schemas.ts';
import * as agentSchemas from '../../agent/identity/schemas.ts';
import * as skillsSchemas from '../../agent/skills/schemas.ts';
import * as agentTasksSchemas from '../../agent/tasks/schemas.ts';
import * as accessSchemas from '../../auth/schemas.ts';
import * as crowdDocument from '../../commerce/documents/crowd-schemas.ts';
import * as forecastsDocument from '../../commerce/documents/forecast-schemas.ts';
import * as headDocument from '../../commerce/documents/head-schemas.ts';
import * as marketDocument from '../../commerce/documents/market-schemas.ts';
import * as proofDocument from '../../commerce/documents/proof-schemas.ts';
import * as trackRecordDocument from '../../commerce/documents/track-record-schemas.ts';
import * as jobsSchemas from '../../commerce/jobs/schemas.ts';
import * as commerceSchemas from '../../commerce/offerings/schemas.ts';
import * as paymentSchemas from '../../commerce/payment-schemas.ts';
import * as purchasesSchemas from '../../commerce/purchases/schemas.ts';
import * as paidSchemas from '../../commerce/x402/paid-schemas.ts';
import * as x402Schemas from '../../commerce/x402/schemas.ts';
import * as contestInputSchemas from '../../contest/input.ts';
import * as contestSchemas from '../../contest/schemas.ts';
import * as referenceSchemas from '../../docs/schemas.ts';
import * as copyTradeSchemas from '../../forecast/copy-trade/schemas.ts';
import * as tradeIntentSchemas from '../../forecast/copy-trade/trade-intent-schemas.ts';
import * as regimeSchemas from '../../forecast/regime/schemas.ts';
import * as oraclePremiumSchemas from '../../forecast/signal/premium-schemas.ts';
import * as crowdSchemas from '../../market/crowd/schemas.ts';
import * as predictionMarketsSchemas from '../../market/prediction-markets/schemas.ts';
import * as marketSchemas from '../../market/reports/schemas.ts';
import * as wagersSchemas from '../../market/wagers/schemas.ts';
import * as metadataSchemas from '../../record/attestations/metadata-schemas.ts';
import * as selfTestsSchemas from '../../record/self-tests/schemas.ts';
import * as briefSchemas from '../../reports/brief-schemas.ts';
import * as weeklySchemas from '../../reports/weekly-schemas.ts';
import * as ecosystemSchemas from '../../service/about/ecosystem-schemas.ts';
import * as infoSchemas from '../../service/about/info-schemas.ts';
import * as modelCardSchemas from '../../service/about/model-card-schemas.ts';
import * as serviceSchemas from '../../service/health/schemas.ts';
import * as statusSchemas from '../../service/health/status-schemas.ts';
import * as rpcSchemas from '../../service/rpc/schemas.ts';
import * as webhookDeliveriesSchemas from '../../webhooks/delivery-schemas.ts';
import * as webhooksSchemas from '../../webhooks/schemas.ts';
import * as websocketSchemas from '../../websocket/schemas.ts';
import * as widgetSchemas from '../../widget/schemas.ts';
import { toPascalCase } from './pascal-case.ts';

const MODULES: readonly object[] = [
  attestationsRecord,
  breakdownRecord,
  brierRecord,
  forecastRecord,
  marketContextRecord,
  oracleRecord,
  predictionVerificationRecord,
  scorecardRecord,
  signalRecord,
  statisticsRecord,
  trackRecordRecord,
  accessSchemas,
  adminSchemas,
  agentCardSchemas,
  agentTasksSchemas,
  agentSchemas,
  briefSchemas,
  commerceSchemas,
  contestInputSchemas,
  contestSchemas,
  copyTradeSchemas,
  crowdSchemas,
  crowdDocument,
  forecastsDocument,
  headDocument,
  marketDocument,
  proofDocument,
  trackRecordDocument,
  ecosystemSchemas,
  infoSchemas,
  jobsSchemas,
  marketSchemas,
  metadataSchemas,
  modelCardSchemas,
  oraclePremiumSchemas,
  paidSchemas,
  paymentSchemas,
  predictionMarketsSchemas,
  purchasesSchemas,
  referenceSchemas,
  regimeSchemas,
  rpcSchemas,
  selfTestsSchemas,
  serviceSchemas,
  skillsSchemas,
  statusSchemas,
  tradeIntentSchemas,
  wagersSchemas,
  webhookDeliveriesSchemas,
  webhooksSchemas,
  websocketSchemas,
  weeklySchemas,
  widgetSchemas,
  x402Schemas,
];

/** Scalar schemas with names for code generators. */
const FIELDS: [z.ZodType, string][] = [
  [BYTES32, 'Bytes32'],
  [ADDRESS, 'Address'],
];

/**
 * Component names by schema constant: `WEEKLY_REPORT` becomes `WeeklyReport`. Not in `.meta({ id })`, which would turn the schemas of
 * MCP tools into references.
 */
const NAMES: ReadonlyMap<z.ZodType, string> = new Map([...MODULES.flatMap(listSchemaNames), ...FIELDS]);

function listSchemaNames(module: object): [z.ZodType, string][] {
  return Object.entries(module).flatMap(([constant, value]) => (value instanceof z.ZodType ? [[value, toComponentName(constant)]] : []));
}

function toComponentName(constant: string): string {
  return toPascalCase(constant.toLowerCase())
    .replace(/Reply$/, 'Response')
    .replace(/Body$/, 'Request');
}

/** Name of a schema, or of the schema that `.describe()` derived it from. */
export function findConstantName(schema: z.core.$ZodType): string | undefined {
  for (let one: z.core.$ZodType | undefined = schema; one !== undefined; one = one._zod.parent) {
    const name = NAMES.get(one as z.ZodType);
    if (name !== undefined) return name;
  }
  return undefined;
}
