import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';

/** The page of a host: the bridge of the SDK, and the sandbox of the inspector on another origin. Its client is that of the test. */
window.openApp = async ({ sandboxUrl, html, csp, hostContext, input, result }) => {
  const frame = document.createElement('iframe');
  frame.style.cssText = 'border:0;width:100%;height:100px';
  frame.src = sandboxUrl;
  document.body.append(frame);
  const bridge = new AppBridge(null, { name: 'host', version: '1.0.0' }, { serverTools: {} }, { hostContext });
  const [ready, initialized] = [Promise.withResolvers(), Promise.withResolvers()];
  bridge.onsandboxready = ready.resolve;
  bridge.oninitialized = initialized.resolve;
  bridge.onsizechange = ({ height }) => {
    frame.style.height = `${height}px`;
  };
  bridge.oncalltool = (call) => window.callTool(call);
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  await ready.promise;
  await bridge.sendSandboxResourceReady({ html, csp });
  await initialized.promise;
  await bridge.sendToolInput({ arguments: input });
  await bridge.sendToolResult(result);
  window.bridge = bridge;
};
