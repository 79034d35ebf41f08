/** Base, of real deployments. */
export const BASE_CHAIN_ID = 8_453;
/** Base Sepolia's id: clients accept it without settings, and no signature made on the local chain is worth anything on Base. */
export const LOCAL_CHAIN_ID = 84_532;
