import { z } from 'zod';
import { ADDRESS, BYTES32 } from '../../../fields.ts';
import * as attestationsRecord from '../../../record/schemas/attestations.ts';
import * as breakdownRecord from '../../../record/schemas/breakdown.ts';
import * as brierRecord from '../../../record/schemas/brier.ts';
import * as forecastRecord from '../../../record/schemas/forecast.ts';
import * as marketContextRecord from '../../../record/schemas/market-context.ts';
import * as oracleRecord from '../../../record/schemas/oracle.ts';
import * as predictionVerificationRecord from '../../../record/schemas/prediction-verification.ts';
import * as scorecardRecord from '../../../record/schemas/scorecard.ts';
import * as signalRecord from '../../../record/schemas/signal.ts';
import * as statisticsRecord from '../../../record/schemas/statistics.ts';
import * as trackRecordRecord from '../../../record/schemas/track-record.ts';
import * as accessSchemas from '../../schemas/access.ts';
import * as adminSchemas from '../../schemas/admin.ts';
import * as agentSchemas from '../../schemas/agent.ts';
import * as agentCardSchemas from '../../schemas/agent-card.ts';
import * as agentTasksSchemas from '../../schemas/agent-tasks.ts';
import * as briefSchemas from '../../schemas/brief.ts';
import * as commerceSchemas from '../../schemas/commerce.ts';
import * as contestSchemas from '../../schemas/contest.ts';
import * as contestInputSchemas from '../../schemas/contest-input.ts';
import * as copyTradeSchemas from '../../schemas/copy-trade.ts';
import * as crowdSchemas from '../../schemas/crowd.ts';
import * as crowdDocument from '../../schemas/documents/crowd.ts';
import * as forecastsDocument from '../../schemas/documents/forecasts.ts';
import * as headDocument from '../../schemas/documents/head.ts';
import * as marketDocument from '../../schemas/documents/market.ts';
import * as proofDocument from '../../schemas/documents/proof.ts';
import * as trackRecordDocument from '../../schemas/documents/track-record.ts';
import * as ecosystemSchemas from '../../schemas/ecosystem.ts';
import * as infoSchemas from '../../schemas/info.ts';
import * as jobsSchemas from '../../schemas/jobs.ts';
import * as marketSchemas from '../../schemas/market.ts';
import * as metadataSchemas from '../../schemas/metadata.ts';
import * as modelCardSchemas from '../../schemas/model-card.ts';
import * as oraclePremiumSchemas from '../../schemas/oracle-premium.ts';
import * as paidSchemas from '../../schemas/paid.ts';
import * as paymentSchemas from '../../schemas/payment.ts';
import * as predictionMarketsSchemas from '../../schemas/prediction-markets.ts';
import * as purchasesSchemas from '../../schemas/purchases.ts';
import * as referenceSchemas from '../../schemas/reference.ts';
import * as regimeSchemas from '../../schemas/regime.ts';
import * as rpcSchemas from '../../schemas/rpc.ts';
import * as selfTestsSchemas from '../../schemas/self-tests.ts';
import * as serviceSchemas from '../../schemas/service.ts';
import * as skillsSchemas from '../../schemas/skills.ts';
import * as statusSchemas from '../../schemas/status.ts';
import * as tradeIntentSchemas from '../../schemas/trade-intent.ts';
import * as wagersSchemas from '../../schemas/wagers.ts';
import * as webhookDeliveriesSchemas from '../../schemas/webhook-deliveries.ts';
import * as webhooksSchemas from '../../schemas/webhooks.ts';
import * as websocketSchemas from '../../schemas/websocket.ts';
import * as weeklySchemas from '../../schemas/weekly.ts';
import * as widgetSchemas from '../../schemas/widget.ts';
import * as x402Schemas from '../../schemas/x402.ts';
import { pascalCase } from './pascal-case.ts';

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

/** What fields are made of, under names that code generators can use. */
const FIELDS: [z.ZodType, string][] = [
  [BYTES32, 'Bytes32'],
  [ADDRESS, 'Address'],
];

/** Where the name of a constant says too little outside of its file. */
const CLEARER: Record<string, string> = {};

/**
 * Names of components, by the schema constants of answers: `WEEKLY_REPORT` is `WeeklyReport`. They stand here and not in `.meta({ id })`,
 * which would turn the schemas of MCP tools into references.
 */
const NAMES: ReadonlyMap<z.ZodType, string> = new Map([...MODULES.flatMap(namesIn), ...FIELDS]);

function namesIn(module: object): [z.ZodType, string][] {
  return Object.entries(module).flatMap(([constant, value]) => (value instanceof z.ZodType ? [[value, componentName(constant)]] : []));
}

function componentName(constant: string): string {
  return (
    CLEARER[constant] ??
    pascalCase(constant.toLowerCase())
      .replace(/Reply$/, 'Response')
      .replace(/Body$/, 'Request')
  );
}

/** The name of a schema, or of the one that it was described anew from. */
export function constantNameOf(schema: z.core.$ZodType): string | undefined {
  for (let one: z.core.$ZodType | undefined = schema; one !== undefined; one = one._zod.parent) {
    const name = NAMES.get(one as z.ZodType);
    if (name !== undefined) return name;
  }
  return undefined;
}
