import { COMPONENT_TAG } from '../../views/widget/embed-line.ts';
import { FRAME_SANDBOX, formatFrameTitle } from '../../views/widget/frame.ts';
import { buildCardPath, FRAME_PIXELS, parseWidgetOptions } from '../../views/widget/options.ts';

/** `<bitcoin-signal-oracle horizon="7" theme="dark" size="medium">`: the card of the service that this module comes from. */
class SignalElement extends HTMLElement {
  static observedAttributes = ['horizon', 'theme', 'size'];

  readonly #frame = document.createElement('iframe');

  constructor() {
    super();
    this.#frame.setAttribute('sandbox', FRAME_SANDBOX);
    this.#frame.loading = 'lazy';
    this.#frame.style.cssText = 'display:block;border:0;max-width:100%';
    this.attachShadow({ mode: 'open' }).append(this.#frame);
  }

  connectedCallback() {
    this.#update();
  }

  attributeChangedCallback() {
    if (this.isConnected) this.#update();
  }

  #update() {
    const options = parseWidgetOptions((name) => this.getAttribute(name));
    const source = new URL(buildCardPath(options), import.meta.url).href;
    this.#frame.title = formatFrameTitle(options);
    Object.assign(this.#frame, FRAME_PIXELS[options.size]);
    if (this.#frame.src !== source) this.#frame.src = source;
  }
}

if (customElements.get(COMPONENT_TAG) === undefined) customElements.define(COMPONENT_TAG, SignalElement);
