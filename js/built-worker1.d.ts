export declare const promiser: import('./types.js').Worker1Promiser;
