/** In the navigation, and at the head of the view. */
import { words } from '../../common/strings.js';

export const trendsTitle = (): string => words({ en: 'Trends', de: 'Kurven' });
