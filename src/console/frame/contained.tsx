/** A part of the page that cannot be drawn takes no other with it, and is tried again: nobody may be there to load the page anew. */
import { Component, type ComponentChildren } from 'preact';
import { readAnew } from '../data/plant.js';
import { words } from '../common/strings.js';

/** Until it is read again, and then until that is there. */
const AGAIN_MS = 3000;
const READ_MS = 1000;

interface ContainedProps {
  /** What is drawn; another one is tried at once. */
  readonly of: string;
  readonly children: ComponentChildren;
}

interface ContainedState {
  readonly failed: boolean;
}

export class Contained extends Component<ContainedProps, ContainedState> {
  override state = { failed: false };
  #again = 0;

  static override getDerivedStateFromError(): ContainedState {
    return { failed: true };
  }

  override componentDidCatch(fault: unknown): void {
    console.error(fault);
    clearTimeout(this.#again);
    this.#again = window.setTimeout(() => {
      readAnew();
      this.#again = window.setTimeout(() => this.setState({ failed: false }), READ_MS);
    }, AGAIN_MS);
  }

  override componentDidUpdate({ of }: ContainedProps): void {
    if (this.state.failed && of !== this.props.of) this.setState({ failed: false });
  }

  override componentWillUnmount(): void {
    clearTimeout(this.#again);
  }

  override render() {
    if (!this.state.failed) return this.props.children;
    return (
      <section class="panel page" role="alert" data-testid="not-drawn">
        <p class="fault">
          {words({
            en: 'The page cannot show this: what it is told does not fit it. It tries again every few seconds. After an update of the box load the page anew.',
            de: 'Die Seite kann das nicht zeigen: Was ihr gemeldet wird, passt nicht zu ihr. Sie versucht es alle paar Sekunden erneut. Nach einer Aktualisierung der Box bitte die Seite neu laden.',
          })}
        </p>
        <button type="button" class="button" onClick={() => location.reload()} data-testid="load-anew">
          {words({ en: 'Load anew', de: 'Neu laden' })}
        </button>
      </section>
    );
  }
}
