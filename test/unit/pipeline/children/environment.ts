process.send!({ computed: { name: 'stability', report: Object.keys(process.env), durationMs: 0 } });
process.disconnect();
