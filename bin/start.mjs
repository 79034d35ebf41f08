import { requireNodeVersion } from './require-node.mjs';

const HELP = `Usage: npm start
       node bin/start.mjs [--check] [--help]

Starts the service with the settings of the environment (docs/SETTINGS.md); without any it is a demonstration with everything embedded.

  --check   says whether it is ready to start and starts nothing: the same as npm run doctor, with its options
  --help    shows this help`;

requireNodeVersion();
const [first, ...rest] = process.argv.slice(2);
if (first === undefined) {
  const { collectWhenIdle } = await import('./service/idle-collection.mjs');
  collectWhenIdle();
  await import('./service/every-process.mjs');
  const { runService } = await import('../src/main.ts');
  await runService();
} else if (first === '--check') {
  const { runDoctorProgram } = await import('../src/cli/doctor.ts');
  await runDoctorProgram(rest, process.env);
} else if (first === '--help' || first === '-h') console.log(HELP);
else {
  console.error(`${first} is unknown\n${HELP}`);
  process.exitCode = 2;
}
