/** Views of the MCP App: one document each, for the answers of one tool. */
export const APP_VIEWS = ['forecast', 'record', 'verification'] as const;

export type AppView = (typeof APP_VIEWS)[number];

/** The tool whose answers a view draws. */
export const VIEW_TOOLS = {
  forecast: 'predict_btc_direction',
  record: 'get_track_record',
  verification: 'verify_prediction',
} as const satisfies Record<AppView, string>;

export const VIEW_TITLES: Record<AppView, string> = {
  forecast: 'Bitcoin forecast',
  record: 'Track record',
  verification: 'Verification on chain',
};

/** The view of a tool's answers; undefined for a tool without one. */
export function findToolView(tool: string): AppView | undefined {
  return APP_VIEWS.find((view) => VIEW_TOOLS[view] === tool);
}
