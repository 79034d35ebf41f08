// Run by mongosh in the network of the first member: initiates the replica set and creates its users, both of which MongoDB allows without
// a user over the loopback address alone. Each step is skipped once it is done, so that a run that was cut off is repeated from its start.
const { readFileSync } = require('node:fs');

const LOOPBACK = '127.0.0.1:27017';
const MEMBERS = ['mongo-1', 'mongo-2', 'mongo-3'];
const AUTHENTICATION_FAILED = 18;
const WAIT_SECONDS = 60;

const readSecret = (name) => readFileSync(`/run/secrets/${name}`, 'utf8').trim();
const rootPassword = readSecret('mongo_root_password');

/** A connection as root, or null where there is no such user yet. */
function logIn() {
  try {
    return connect(`mongodb://root:${encodeURIComponent(rootPassword)}@${LOOPBACK}/admin?directConnection=true`);
  } catch (error) {
    if (error.code === AUTHENTICATION_FAILED || /authentication failed/i.test(error.message)) return null;
    throw error;
  }
}

function initiate(local) {
  // The first member is preferred: this script writes to it.
  const members = MEMBERS.map((name, _id) => ({ _id, host: `${name}:27017`, priority: _id === 0 ? 2 : 1 }));
  local.adminCommand({ replSetInitiate: { _id: 'rs0', members } });
}

function waitForPrimary(connected) {
  for (let seconds = 0; seconds < WAIT_SECONDS; seconds++) {
    if (connected.hello().isWritablePrimary) return;
    sleep(1_000);
  }
  throw new Error(`mongo-1 has not become primary within ${WAIT_SECONDS} s`);
}

function ensureUser(admin, user, pwd, roles) {
  if (admin.getUser(user) === null) admin.createUser({ user, pwd, roles });
  else admin.updateUser(user, { pwd, roles });
}

const local = connect(`mongodb://${LOOPBACK}/admin?directConnection=true`);
if (local.hello().setName === undefined) initiate(local);
waitForPrimary(local);
let admin = logIn();
if (admin === null) {
  local.createUser({ user: 'root', pwd: rootPassword, roles: ['root'] });
  admin = logIn();
}
ensureUser(admin, 'oracle', readSecret('mongo_oracle_password'), [{ role: 'readWrite', db: 'oracle' }]);
print('the replica set has its members and users');
