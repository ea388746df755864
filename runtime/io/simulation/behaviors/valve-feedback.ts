import { type BehaviorType, INITIAL } from '../behavior.js';
import { ago, DELAY_MAX_S, type DelayLine, emptyLine, remember } from '../delay-line.js';
import { moveTowards } from '../formulas.js';

interface ValveState {
  /** 0 closed, 1 open. */
  position: number;
  readonly commands: DelayLine;
}

/** Share of the way at which a limit switch sees the valve open, and its complement closed. */
const OPEN_FROM = 0.99;
const CLOSED_TO = 0.01;
const ROUNDING = 1e-9; // eight steps of 1/8 must arrive

/** The position of a valve that follows its command at 1/travelTime, and its limit switches (decisions 6.2). */
export const valveFeedback: BehaviorType<ValveState> = {
  type: 'ValveFeedback',
  meaning:
    'A valve that follows the channel `command` after `delay` in `travelTime`; `kind` open or closed is a limit switch, position goes from 0 to 100; it moves no further than `stuckAt` (0 to 1)',
  params: [
    { name: 'command', type: 'address', required: true },
    { name: 'kind', type: 'choice', default: 'open', choices: ['open', 'closed', 'position'] },
    { name: 'travelTime', type: 'duration', default: '2s', min: 0 },
    { name: 'delay', type: 'duration', default: '0s', min: 0, max: DELAY_MAX_S },
    { name: 'stuckAt', type: 'number', min: 0, max: 1 },
    INITIAL,
  ],
  /** `initial` is the value of the feedback itself, so the position follows from its kind. */
  start(params) {
    if (!params.has('initial')) return { position: 0, commands: emptyLine() };
    const initial = params.number('initial');
    const kind = params.word('kind');
    const position = kind === 'position' ? initial / 100 : kind === 'closed' ? 1 - initial : initial;
    return { position: Math.min(Math.max(position, 0), 1), commands: emptyLine() };
  },
  bind(params, state) {
    const command = params.source('command');
    const kind = params.word('kind');
    const travelTime = params.seconds('travelTime');
    const delay = params.seconds('delay');
    const most = params.has('stuckAt') ? params.number('stuckAt') : 1;
    return ({ dt }) => {
      const ticks = Math.round(delay / dt);
      remember(state.commands, command() === 0 ? 0 : 1, ticks);
      const open = ago(state.commands, ticks);
      const step = travelTime > 0 ? dt / travelTime : 1;
      state.position = Math.min(moveTowards(state.position, open, step), most);
      if (kind === 'position') return 100 * state.position;
      const reached = kind === 'open' ? state.position >= OPEN_FROM - ROUNDING : state.position <= CLOSED_TO + ROUNDING;
      return reached ? 1 : 0;
    };
  },
};
