import { UsageError } from '../../../errors.ts';
import type { SvcCommand } from '../context.ts';

export interface DoctorValues {
  json?: boolean;
  ntp?: string;
}

/** The same as `npm run doctor`. */
export const doctorCommand: SvcCommand<DoctorValues> = {
  example: 'svc doctor --ntp pool.ntp.org',
  description: 'Read-only, with the settings of the service, beside it or before its first start.',
  options: [
    ['--json', 'print JSON'],
    ['--ntp <host>', 'an NTP server to compare the clock with, such as pool.ntp.org'],
  ],
  footer: 'Exits with 0 without a failure, 1 with one, 2 on a usage error.',
  run({ runDoctor, out }, { json, ntp }) {
    if (runDoctor === undefined) throw new UsageError('doctor', 'examines an installed service', 'Run it in the folder of the service.');
    return runDoctor([...(json ? ['--json'] : []), ...(ntp === undefined ? [] : ['--ntp', ntp])], out);
  },
};
